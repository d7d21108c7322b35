// Creates a cluster, runs steps with its kubeconfig in KUBECONFIG, and destroys the cluster, whatever the steps did. docs/pipelines.md
// explains all of it.
def call(Map options = [:], Closure body) {
  if (!options.server) {
    error('withCluster needs server, the address of the ocpctl server')
  }
  def waitHours = options.waitHours == null ? 2 : options.waitHours
  if (!(waitHours instanceof Number) || waitHours <= 0) {
    error("withCluster cannot wait for '${waitHours}' hours: waitHours is a number, for example 3")
  }
  def settings = [
    "CI=true", "OCPCTL_SERVER=${options.server}", "OCPCTL_PROFILE=${options.profile ?: ''}", "OCPCTL_VERSION=${options.version ?: ''}",
    "OCPCTL_REGION=${options.region ?: ''}", "OCPCTL_TEAM=${options.team ?: ''}", "OCPCTL_TTL=${options.ttl ?: '4h'}",
    "OCPCTL_SLOT=${options.slot ?: ''}",
  ]
  // Each use of the credential makes a new token.
  def signedIn = { Map env, Closure steps ->
    withCredentials([string(credentialsId: options.credentialsId ?: 'ocpctl', variable: 'OCPCTL_TOKEN')]) {
      withEnv(settings + env.collect { name, value -> "${name}=${value}".toString() }) { steps() }
    }
  }
  def id = ''
  def refused = false
  def create = {
    signedIn([:]) { // the step sh returns the output or the exit code: here the code is the end of the output
      def said = sh(label: 'Create a cluster', script: 'trap \'echo " $?"; exit 0\' EXIT\n' + libraryResource('ocpctl/create.sh'), returnStdout: true).tokenize()
      refused = said.last() in ['2', '3', '6'] // docs/commands.md
      if (said.last() != '0') {
        error("The request for a cluster ended with exit code ${said.last()}.")
      }
      id = said.first()
    }
  }
  def kubeconfig = ''
  try {
    create()
    kubeconfig = "${pwd(tmp: true)}/${id}-kubeconfig"
    def code = 124
    for (int round = 0; code == 124 && round < 2 * waitHours; round++) {
      signedIn([OCPCTL_CLUSTER_ID: id]) { code = sh(label: 'Wait for the cluster', script: libraryResource('ocpctl/wait.sh'), returnStatus: true) }
    }
    if (code != 0) {
      error("The cluster ${id} is not ready.")
    }
    signedIn([OCPCTL_CLUSTER_ID: id, KUBECONFIG: kubeconfig]) {
      sh(label: 'Get the kubeconfig', script: 'ocpctl kubeconfig "$OCPCTL_CLUSTER_ID" --output "$KUBECONFIG"')
    }
    withEnv(["KUBECONFIG=${kubeconfig}".toString(), "OCPCTL_CLUSTER_ID=${id}".toString()]) { body() }
  } finally {
    if (!id && !refused) { // the build was aborted meanwhile, or the answer was lost: the same request gets the cluster that there may be
      try {
        create()
      } catch (Exception failed) {
        echo("Could not find out whether a cluster was created: ${failed.message} If one was, it ends with its time to live.")
      }
    }
    if (id) {
      signedIn([OCPCTL_CLUSTER_ID: id, KUBECONFIG: kubeconfig]) {
        if (sh(label: 'Destroy the cluster', script: libraryResource('ocpctl/release.sh'), returnStatus: true) != 0) {
          echo("The cluster ${id} could not be destroyed. Its time to live ends it.")
        }
      }
    }
  }
}
