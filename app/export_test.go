package app

// ForgetAdvice has pools that follow their claims ask for the advice anew.
func (s *Service) ForgetAdvice() { s.advised.Clear() }
