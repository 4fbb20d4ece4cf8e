internal import HTTPTypes
internal import LinnetCache
internal import LinnetSession

extension StoredResponse.Variant {
    /// The names of credential fields in lower case: the ones that logs hide by default.
    private static let credentialNames = Set(Redaction.standard.fieldNames.map(\.canonicalName))

    /// Whether the variant contains credentials of the request, such as Authorization and Cookie.
    var hasCredentials: Bool { presentNames.contains { Self.credentialNames.contains($0) } }
}
