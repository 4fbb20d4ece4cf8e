@_exported public import struct LinnetTransport.HTTP2Options
@_exported public import enum LinnetTransport.HTTPVersions
@_exported public import struct LinnetTransport.RequestPriority
@_exported public import struct LinnetTransport.ResolutionOptions
// The values of the transport that a session's own API speaks of come with it: whoever imports LinnetSession, or Linnet,
// needs no further import to set a timeout or to read metrics.
@_exported public import enum LinnetTransport.ShutdownMode
@_exported public import struct LinnetTransport.TLSOptions
@_exported public import protocol LinnetTransport.Transport
@_exported public import struct LinnetTransport.TransportConfiguration
@_exported public import struct LinnetTransport.TransportMetrics
@_exported public import struct LinnetTransport.TransportTimeouts
