// A program that was written for AFNetworking imports one module: these are the modules whose types the names of this
// one use.
@_exported public import HTTPTypes
@_exported public import LinnetMultipart
@_exported public import LinnetReachability
@_exported public import LinnetSecurity
@_exported public import LinnetSerialization
@_exported public import LinnetSession
@_exported public import LinnetUIState
