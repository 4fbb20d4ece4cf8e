// The public API uses the types of LinnetSerialization, so that importing LinnetMultipart is enough.
@_exported public import LinnetSerialization
