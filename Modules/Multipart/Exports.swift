// The public API uses the types of LinnetSerialization. Re-exporting them makes importing LinnetMultipart enough.
@_exported public import LinnetSerialization
