// The public API uses the methods, statuses and fields of HTTPTypes, media types, and the values, coders and options of
// JSON, so that importing LinnetSerialization is enough.
@_exported public import HTTPTypes
@_exported public import LinnetJSON
@_exported public import LinnetMessages
