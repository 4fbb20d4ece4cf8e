// The public API uses the methods, statuses and fields of HTTPTypes, and media types, so that importing LinnetSerialization is
// enough.
@_exported public import HTTPTypes
@_exported public import LinnetMessages
