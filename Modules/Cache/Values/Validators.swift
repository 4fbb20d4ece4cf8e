internal import FoundationEssentials
package import HTTPTypes
internal import LinnetMessages

/// The validators of a response (RFC 9110, section 8.8).
package struct Validators: Sendable {
    /// The entity tag, if there is one that can be sent back.
    package let entityTag: EntityTag?
    /// The value of Last-Modified, if it is a date.
    package let lastModified: String?
    private let lastModifiedSeconds: Int64?
    private let dateSeconds: Int64?

    package init(_ response: HTTPResponse) {
        let fields = response.headerFields
        entityTag = fields[values: .eTag].first.flatMap(EntityTag.init)
        let text = fields[values: .lastModified].first
        let date = text.flatMap { HTTPDate(caseInsensitive: $0) }
        lastModified = date == nil ? nil : text
        lastModifiedSeconds = date?.secondsSinceEpoch
        dateSeconds = fields[values: .date].first.flatMap { HTTPDate(caseInsensitive: $0) }?.secondsSinceEpoch
    }

    package var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// The entity tag if it is strong.
    var strongTag: EntityTag? { entityTag.flatMap { $0.isWeak ? nil : $0 } }

    /// Whether Last-Modified is a strong validator: at least one second before Date (section 8.8.2.2).
    var isLastModifiedStrong: Bool {
        guard let lastModifiedSeconds, let dateSeconds else { return false }
        return dateSeconds > lastModifiedSeconds
    }

    /// Whether there is a strong validator.
    package var hasStrong: Bool { entityTag.map { !$0.isWeak } ?? isLastModifiedStrong }

    /// Whether both responses have the same strong validator (RFC 9111, section 3.4).
    package func haveSameStrong(as other: Validators) -> Bool {
        if let tag = entityTag, let otherTag = other.entityTag { return tag.isSame(as: otherTag) }
        guard entityTag == nil, other.entityTag == nil else { return false }
        return isLastModifiedStrong && other.isLastModifiedStrong && lastModifiedSeconds == other.lastModifiedSeconds
    }

    /// Whether both have the same date of modification.
    func haveSameModification(as other: Validators) -> Bool {
        lastModifiedSeconds != nil && lastModifiedSeconds == other.lastModifiedSeconds
    }

    /// Whether the response is not newer than a date in If-Modified-Since (RFC 9110, section 13.1.3; RFC 9111, section
    /// 4.3.2: the date of the response stands in for a missing Last-Modified).
    func isUnmodified(since date: HTTPDate) -> Bool {
        (lastModifiedSeconds ?? dateSeconds).map { $0 <= date.secondsSinceEpoch } ?? false
    }

    /// Whether an If-Range field names this representation (RFC 9110, section 13.1.5).
    func satisfies(ifRange value: String) -> Bool {
        if value.utf8.prefix(3).contains(UInt8(ascii: "\"")) {
            return EntityTag(value).map { tag in entityTag?.isSame(as: tag) ?? false } ?? false
        }
        guard isLastModifiedStrong, let date = HTTPDate(caseInsensitive: value) else { return false }
        return date.secondsSinceEpoch == lastModifiedSeconds
    }
}
