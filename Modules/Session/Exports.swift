// The types in a session's API are re-exported: importing LinnetSession or Linnet is enough to make a request, choose a
// serializer, set a timeout, read metrics or look into an underlying error. The transport contributes only value types.

@_exported public import LinnetSerialization

@_exported public import struct LinnetAuthentication.AuthenticationChallenge
@_exported public import struct LinnetAuthentication.AuthenticationError
@_exported public import struct LinnetAuthentication.ContentDigest
@_exported public import struct LinnetAuthentication.Credential
@_exported public import class LinnetAuthentication.CredentialStore
@_exported public import struct LinnetAuthentication.MessageSigner
@_exported public import struct LinnetAuthentication.ProtectionSpace
@_exported public import struct LinnetAuthentication.SignatureComponent
@_exported public import struct LinnetAuthentication.SignatureKey
@_exported public import struct LinnetCache.CacheStatistics
@_exported public import protocol LinnetCache.CacheStore
@_exported public import class LinnetCache.MemoryCacheStore
@_exported public import struct LinnetCompression.CompressionError
@_exported public import struct LinnetCompression.ContentCoding
@_exported public import struct LinnetCompression.DecodingLimits
@_exported public import class LinnetCookies.CookieJar
@_exported public import struct LinnetCookies.StoredCookie
@_exported public import class LinnetSecurity.HSTSStore
@_exported public import enum LinnetTransport.HTTPVersions
@_exported public import struct LinnetTransport.Proxy
@_exported public import struct LinnetTransport.ProxyPolicy
@_exported public import struct LinnetTransport.RequestPriority
@_exported public import enum LinnetTransport.ShutdownMode
@_exported public import protocol LinnetTransport.Transport
@_exported public import struct LinnetTransport.TransportConfiguration
@_exported public import struct LinnetTransport.TransportError
@_exported public import struct LinnetTransport.TransportMetrics
@_exported public import struct LinnetTransport.TransportTimeouts
