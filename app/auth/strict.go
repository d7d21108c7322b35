package auth

import (
	"errors"
	"fmt"
	"slices"

	"github.com/beevik/etree"
	crewjam "github.com/crewjam/saml"
	dsig "github.com/russellhaering/goxmldsig"
)

// The required form of a response before its signature is verified, and of a signature before it is trusted. It leaves no place for
// an assertion wrapped into another document, or for a signature over something else.

const (
	nsProtocol  = "urn:oasis:names:tc:SAML:2.0:protocol"
	nsAssertion = "urn:oasis:names:tc:SAML:2.0:assertion"
	nsSignature = "http://www.w3.org/2000/09/xmldsig#"
	cmBearer    = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
)

// wellFormed accepts one response with one plain assertion, signatures directly below these two, and unique ids.
func wellFormed(raw []byte) error {
	doc := etree.NewDocument()
	if err := doc.ReadFromBytes(raw); err != nil {
		return fmt.Errorf("not XML: %w", err)
	}
	root := doc.Root()
	if root == nil || root.Tag != "Response" || root.NamespaceURI() != nsProtocol {
		return errors.New("not a SAML response")
	}
	for _, token := range doc.Child {
		if _, directive := token.(*etree.Directive); directive {
			return errors.New("it has a document type")
		}
	}
	ids := map[string]bool{}
	return eachElement(root, func(el *etree.Element) error {
		if id := el.SelectAttrValue("ID", ""); id != "" {
			if ids[id] {
				return fmt.Errorf("the id %q is used twice", id)
			}
			ids[id] = true
		}
		switch {
		case el.Tag == "Response" && el != root, el.Tag == "EncryptedAssertion":
			return fmt.Errorf("it contains a nested %s", el.Tag)
		case el.Tag == "Assertion" && (el.Parent() != root || len(root.SelectElements("Assertion")) != 1):
			return errors.New("there is more than one assertion, or it is in the wrong place")
		case el.Tag == "Signature" && el.Parent() != root && el.Parent().Parent() != root:
			return errors.New("there is a signature in the wrong place")
		}
		return nil
	})
}

func eachElement(el *etree.Element, look func(*etree.Element) error) error {
	if err := look(el); err != nil {
		return err
	}
	for _, child := range el.ChildElements() {
		if err := eachElement(child, look); err != nil {
			return err
		}
	}
	return nil
}

var (
	signatureMethods = []string{
		dsig.RSASHA256SignatureMethod, dsig.RSASHA384SignatureMethod, dsig.RSASHA512SignatureMethod,
		dsig.ECDSASHA256SignatureMethod, dsig.ECDSASHA384SignatureMethod, dsig.ECDSASHA512SignatureMethod,
	}
	digestMethods = []string{
		"http://www.w3.org/2001/04/xmlenc#sha256", "http://www.w3.org/2001/04/xmldsig-more#sha384", "http://www.w3.org/2001/04/xmlenc#sha512",
	}
	transforms = []string{
		string(dsig.EnvelopedSignatureAltorithmId), string(dsig.CanonicalXML10ExclusiveAlgorithmId),
		string(dsig.CanonicalXML10RecAlgorithmId), string(dsig.CanonicalXML11AlgorithmId),
	}
)

// strict checks a signature's form before it is verified: it must cover exactly its parent element, completely, with at least
// SHA-256.
type strict struct{}

// VerifySignature implements crewjam/saml's SignatureVerifier.
func (strict) VerifySignature(v *dsig.ValidationContext, el *etree.Element) error {
	if err := signatureForm(el); err != nil {
		return fmt.Errorf("signature on %s: %w", el.Tag, err)
	}
	if _, err := v.Validate(el); err != nil {
		return fmt.Errorf("signature on %s: %w", el.Tag, err)
	}
	return nil
}

func signatureForm(el *etree.Element) error {
	id := el.SelectAttrValue("ID", "")
	info := el.FindElements("./Signature/SignedInfo")
	if id == "" || len(info) != 1 {
		return errors.New("it does not cover an element with an id")
	}
	references := info[0].SelectElements("Reference")
	if len(references) != 1 || references[0].SelectAttrValue("URI", "") != "#"+id {
		return errors.New("it covers another element")
	}
	for _, want := range []struct {
		at      *etree.Element
		path    string
		allowed []string
		exactly bool
	}{
		{info[0], "./SignatureMethod", signatureMethods, true},
		{references[0], "./DigestMethod", digestMethods, true},
		{references[0], "./Transforms/Transform", transforms, false},
	} {
		found := want.at.FindElements(want.path)
		if want.exactly && len(found) != 1 {
			return fmt.Errorf("it has %d of %s", len(found), want.path)
		}
		for _, f := range found {
			if name := f.SelectAttrValue("Algorithm", ""); !slices.Contains(want.allowed, name) {
				return fmt.Errorf("%q is not accepted", name)
			}
		}
	}
	return nil
}

// forUs reports whether an assertion is for this audience; with several audience lists, in each of them. The library would accept an
// assertion without any.
func forUs(a *crewjam.Assertion, audience string) error {
	if a.Conditions == nil || len(a.Conditions.AudienceRestrictions) == 0 {
		return errors.New("AudienceRestriction is missing")
	}
	for _, r := range a.Conditions.AudienceRestrictions {
		if r.Audience.Value != audience {
			return fmt.Errorf("AudienceRestriction is %q", r.Audience.Value)
		}
	}
	return nil
}

// checkComplete says what a checked assertion lacks.
func checkComplete(a *crewjam.Assertion) error {
	switch {
	case a.ID == "" || a.Conditions == nil || a.Conditions.NotOnOrAfter.IsZero():
		return errors.New("no id, or no expiry")
	case a.Subject == nil || a.Subject.NameID == nil || a.Subject.NameID.Value == "":
		return errors.New("no subject")
	case len(a.Subject.SubjectConfirmations) == 0:
		return errors.New("no subject confirmation")
	}
	for _, c := range a.Subject.SubjectConfirmations {
		if c.Method != cmBearer || c.SubjectConfirmationData == nil || c.SubjectConfirmationData.NotOnOrAfter.IsZero() {
			return errors.New("a subject confirmation that is not bearer, or has no expiry")
		}
	}
	return nil
}
