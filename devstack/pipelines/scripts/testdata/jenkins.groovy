// Runs a script with the steps of a shared library, in Groovy alone: the steps of Jenkins that the library uses are those of this file. It
// has neither Jenkins' sandbox nor its continuations.
// Arguments: the library, a file with tokens of which each use of a credential takes the next, a temporary directory, the script.
import org.codehaus.groovy.control.CompilerConfiguration

abstract class Steps extends Script {
  static File library
  static List<String> tokens
  static String temporary
  static String abort = System.getenv('ABORT_DURING') // the label of a step during which somebody aborts the build, once
  static Map<String, String> variables = [:]

  def pwd(Map options) { temporary }
  def string(Map options) { options.variable }
  def echo(String text) { println(text) }
  def error(String text) { throw new RuntimeException(text) }
  def libraryResource(String path) { new File(library, "resources/${path}").text }

  def with(Map<String, String> more, Closure steps) {
    def before = variables
    variables = variables + more
    try { steps() } finally { variables = before }
  }
  def withEnv(List pairs, Closure steps) {
    pairs.each { assert it instanceof String || it instanceof GString }
    with(pairs.collectEntries { def (name, value) = it.toString().split('=', 2); [(name): value] }, steps)
  }
  def withCredentials(List names, Closure steps) { with(names.collectEntries { [(it): tokens.remove(0)] }, steps) }

  def sh(String script) { sh(script: script) }
  def sh(Map options) {
    def builder = new ProcessBuilder('/bin/sh', '-xe', '-c', options.script.toString())
    builder.environment().putAll(variables)
    builder.environment().put('PATH', System.getenv('STEPS_PATH'))
    builder.redirectError(ProcessBuilder.Redirect.INHERIT)
    def process = builder.start()
    def out = process.inputStream.text
    def code = process.waitFor()
    if (!options.returnStdout) { print(out) }
    if (abort && options.label == abort) {
      abort = null
      error('the build was aborted')
    }
    if (options.returnStatus) { return code }
    if (code != 0) { error("script returned exit code ${code}") }
    options.returnStdout ? out : null
  }

  // A step of the library is a file in vars.
  def methodMissing(String name, Object given) {
    def file = new File(library, "vars/${name}.groovy")
    if (!file.exists()) { throw new MissingMethodException(name, getClass(), given as Object[]) }
    new GroovyShell(getClass().classLoader, new Binding(), new CompilerConfiguration(scriptBaseClass: 'Steps')).parse(file).invokeMethod('call', given)
  }
}

Steps.library = new File(args[0])
Steps.tokens = new File(args[1]).readLines()
Steps.temporary = args[2]
new GroovyShell(getClass().classLoader, new Binding(), new CompilerConfiguration(scriptBaseClass: 'Steps')).parse(args[3]).run()
