@_exported public import HTTPTypes
@_exported public import LinnetCache
@_exported public import LinnetCookies
@_exported public import LinnetMultipart
@_exported public import LinnetReachability
@_exported public import LinnetSecurity
@_exported public import LinnetSerialization
@_exported public import LinnetSession
