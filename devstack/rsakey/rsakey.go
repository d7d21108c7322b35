// Package rsakey has the private keys of the stand-ins that sign something. It is for demos and tests; the product must never import it.
package rsakey

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// spare has the keys of stand-ins that were stopped and stored none. Making a key costs more than most tests that need one; no two
// stand-ins that run have the same.
var spare = make(chan *rsa.PrivateKey, 16)

// Key is a stand-in's private key.
type Key struct {
	*rsa.PrivateKey
	stored bool
}

// LoadFrom loads the key in a directory's key.pem; without a directory, one that nobody has.
func LoadFrom(dir string) (Key, error) {
	if dir == "" {
		return Load("")
	}
	return Load(filepath.Join(dir, "key.pem"))
}

// Load reads the key of a file, or creates and stores one; without a path it returns a key that nobody has. Its owner releases it.
func Load(path string) (_ Key, err error) {
	defer must.Catch(&err)
	if path == "" {
		select {
		case key := <-spare:
			return Key{key, false}, nil
		default: // there is none
			return Key{must.Get(rsa.GenerateKey(rand.Reader, 2048)), false}, nil
		}
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		raw = Key{must.Get(rsa.GenerateKey(rand.Reader, 2048)), true}.PEM()
		err = file.Replace(path, raw)
	}
	must.Wrap(err, "load a key")
	block, _ := pem.Decode(raw)
	must.FailIf(block == nil, "read the key %s: no PEM block", path)
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	must.Wrap(err, "read the key %s", path)
	return Key{key, true}, nil
}

// Release gives a key that is not stored to the next owner. Its owner has stopped, and calls it once.
func (k Key) Release() {
	if k.stored {
		return
	}
	select {
	case spare <- k.PrivateKey:
	default: // there are enough
	}
}

// PEM returns the key as it is stored.
func (k Key) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k.PrivateKey)})
}
