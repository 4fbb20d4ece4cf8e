internal import FoundationEssentials
package import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization

/// The version of an entity whose ranges several requests fetch.
package struct SegmentedEntity: Sendable, Hashable, Codable {
    /// The strong entity tag as the characters of ISO 8859-1.
    package let entityTag: String?
    /// The Last-Modified date, if it is a strong validator.
    package let lastModified: String?
    /// The length in bytes.
    package let total: Int64

    private var validators: ResumeValidators { ResumeValidators(entityTag: entityTag, lastModified: lastModified) }

    /// The entity of a response to a request for its first bytes; nil if the response does not allow requests for other
    /// ranges: it is no 206 for the first bytes, does not declare the whole length, is coded, or has no strong
    /// validator.
    package init?(_ response: StreamedResponse) {
        let validators = ResumeValidators(response.head)
        guard response.head.status == .partialContent, validators.ifRange != nil,
            let range = Self.range(of: response), range.bytes?.lowerBound == 0, let total = range.complete
        else { return nil }
        (entityTag, lastModified, self.total) = (validators.entityTag, validators.lastModified, total)
    }

    /// Returns the fields that request a range of this version (RFC 9110, sections 13.1.5 and 14.2).
    package func requestFields(for range: Range<Int64>) -> HTTPFields {
        var fields = Self.requestFields(for: range)
        fields[isoLatin1: .ifRange] = validators.ifRange
        return fields
    }

    /// Returns the fields that request a range of whatever version there is.
    package static func requestFields(for range: Range<Int64>) -> HTTPFields {
        [.range: "bytes=\(range.lowerBound)-\(range.upperBound - 1)", .acceptEncoding: "identity"]
    }

    /// Checks that a response has a range of this version, and returns the range, which begins like the requested one,
    /// and can end before it.
    ///
    /// - Throws: A `SessionError` with ``SessionError/Code/invalidResumeData`` if the entity has changed, and with
    ///   ``SessionError/Code/invalidResponse`` if the server sends another range.
    package func range(
        of response: StreamedResponse, askedFor asked: Range<Int64>
    ) throws(SessionError) -> Range<Int64> {
        guard response.head.status == .partialContent, validators.confirm(response.head),
            let range = Self.range(of: response), range.complete ?? total == total
        else {
            throw SessionError(
                .invalidResumeData, "The server has another version of the file now.", url: response.url)
        }
        guard let bytes = range.bytes, bytes.lowerBound == asked.lowerBound, bytes.upperBound < asked.upperBound else {
            throw SessionError(
                .invalidResponse, "The partial response (206) has another range than the requested one.",
                url: response.url)
        }
        return bytes.lowerBound..<bytes.upperBound + 1
    }

    private static func range(of response: StreamedResponse) -> ContentRange? {
        let fields = response.head.headerFields
        guard fields[.contentEncoding].map({ $0.lowercased() == "identity" }) ?? true,
            response.contentCodings.isEmpty
        else { return nil }
        return fields[.contentRange].flatMap { ContentRange($0) }
    }
}
