// A form becomes the body of a request, and its parameters are those of a request: whoever imports LinnetMultipart needs no
// further import to make one.
@_exported public import LinnetSerialization
