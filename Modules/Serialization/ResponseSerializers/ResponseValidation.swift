import HTTPTypes

/// Judges a response's status and content type, before its body is read.
///
/// ```swift
/// try ResponseValidation(statusCodes: 200..<300, contentTypes: ["text/*"]).validate(response)
/// ```
public struct ResponseValidation: Sendable, Hashable {
    /// The statuses that are accepted; nil accepts all. The default is 200 to 299.
    public var statusCodes: RangeSet<Int>?
    /// The content types that are accepted, as patterns (see ``MediaType/matches(_:)``); nil accepts all, which is the
    /// default.
    ///
    /// A response without a body passes whatever its type. One with a body and no, or a malformed, Content-Type is
    /// refused, unless `*/*` is among the patterns.
    public var contentTypes: [String]?

    /// Creates a validation.
    public init(statusCodes: Range<Int> = 200..<300, contentTypes: [String]? = nil) {
        self.statusCodes = RangeSet(statusCodes)
        self.contentTypes = contentTypes
    }

    /// Creates a validation that accepts a set of statuses.
    public init(statusCodes: RangeSet<Int>?, contentTypes: [String]? = nil) {
        self.statusCodes = statusCodes
        self.contentTypes = contentTypes
    }

    /// Accepts any status and any content type.
    public static let none = ResponseValidation(statusCodes: nil, contentTypes: nil)

    /// Does nothing if the response is acceptable.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/unacceptableStatus``, or
    ///   ``SerializationError/Code/unacceptableContentType``. If both are wrong, the type's error is the underlying one.
    public func validate(_ response: SerializedResponse) throws(SerializationError) {
        let typeError = contentTypeError(of: response)
        let status = response.head.status
        if let statusCodes, !statusCodes.contains(status.code) {
            let reason = status.reasonPhrase.isEmpty ? "" : " " + status.reasonPhrase
            throw SerializationError(
                code: .unacceptableStatus,
                message: "the server answered with status \(status.code)\(reason)",
                underlying: typeError,
                response: response
            )
        }
        if let typeError { throw typeError }
    }

    private func contentTypeError(of response: SerializedResponse) -> SerializationError? {
        guard let contentTypes, !response.body.isEmpty, !contentTypes.contains("*/*") else { return nil }
        let mediaType = response.mediaType
        if let mediaType, contentTypes.contains(where: mediaType.matches) { return nil }
        let found = mediaType?.essence ?? response.head.headerFields[.contentType] ?? "none"
        return SerializationError(
            code: .unacceptableContentType,
            message: "the content type is \(found), not one of \(contentTypes.joined(separator: ", "))",
            response: response
        )
    }
}
