internal import HTTPTypes
internal import LinnetCache
internal import LinnetSession

extension StoredResponse.Variant {
    /// The names of the fields that logs hide by default, in lower case.
    private static let credentialNames = Set(Redaction.standard.fieldNames.map(\.canonicalName))

    /// Whether the variant has values of request fields that are credentials, such as Authorization and Cookie.
    var hasCredentials: Bool { presentNames.contains { Self.credentialNames.contains($0) } }
}
