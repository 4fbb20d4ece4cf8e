// The public API uses the methods, statuses and fields of HTTPTypes, so that importing LinnetSerialization is enough.
@_exported public import HTTPTypes
