// What a session's own API speaks of comes with it: whoever imports LinnetSession, or Linnet, needs no further import to
// make a request, to choose a serializer, to set a timeout or to read metrics. Of the transport these are values alone.

@_exported public import LinnetSerialization

@_exported public import struct LinnetTransport.HTTP2Options
@_exported public import enum LinnetTransport.HTTPVersions
@_exported public import struct LinnetTransport.RequestPriority
@_exported public import struct LinnetTransport.ResolutionOptions
@_exported public import enum LinnetTransport.ShutdownMode
@_exported public import struct LinnetTransport.TLSOptions
@_exported public import protocol LinnetTransport.Transport
@_exported public import struct LinnetTransport.TransportConfiguration
@_exported public import struct LinnetTransport.TransportMetrics
@_exported public import struct LinnetTransport.TransportTimeouts
