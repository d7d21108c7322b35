package profiles

import "io/fs"

func Embedded() (Catalogue, error) { return Catalogue{}, nil }

func Load(files fs.FS) (Catalogue, error) { return Catalogue{}, nil }

// InstallInput is what a grant adds to a profile.
type InstallInput struct {
	Name, BaseDomain, Region, Version string
	Zones                             []string
	Tags                              map[string]string
}

func (p Profile) InstallConfig(in InstallInput) ([]byte, error) { return nil, nil }
