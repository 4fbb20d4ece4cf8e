// The public API makes policies and sessions, so that importing LinnetSettings is enough to read them from files and
// use them.

@_exported public import LinnetSecurity
@_exported public import LinnetSession
