internal import FoundationEssentials
package import HTTPTypes
internal import LinnetMessages

/// The validators of a response (RFC 9110, section 8.8).
package struct Validators: Sendable {
    /// The entity tag, if it can be sent back.
    package let entityTag: EntityTag?
    /// The value of Last-Modified, if it is a date.
    package let lastModified: String?
    /// Last-Modified.
    let modification: HTTPDate?
    /// Date, which decides whether Last-Modified is strong.
    let date: HTTPDate?

    package init(_ response: HTTPResponse) {
        let fields = response.headerFields
        entityTag = fields.isoLatin1Values(of: .eTag).first.flatMap(EntityTag.init)
        let text = fields[values: .lastModified].first
        let date = text.flatMap { HTTPDate(caseInsensitive: $0) }
        lastModified = date == nil ? nil : text
        modification = date
        self.date = fields[values: .date].first.flatMap { HTTPDate(caseInsensitive: $0) }
    }

    /// The entity tag if it is strong.
    var strongTag: EntityTag? { entityTag.flatMap { $0.isWeak ? nil : $0 } }

    /// Whether Last-Modified is a strong validator: at least one second before Date (section 8.8.2.2).
    var isLastModifiedStrong: Bool {
        guard let modification, let date else { return false }
        return date.secondsSinceEpoch > modification.secondsSinceEpoch
    }

    /// Whether the response has a strong validator.
    package var hasStrong: Bool { entityTag.map { !$0.isWeak } ?? isLastModifiedStrong }

    /// Whether both responses have the same strong validator (RFC 9111, section 3.4).
    package func haveSameStrong(as other: Validators) -> Bool {
        if let tag = entityTag, let otherTag = other.entityTag { return tag.isSame(as: otherTag) }
        guard entityTag == nil, other.entityTag == nil else { return false }
        return isLastModifiedStrong && other.isLastModifiedStrong && modification == other.modification
    }

    /// Whether both have the same date of modification.
    func haveSameModification(as other: Validators) -> Bool {
        modification != nil && modification == other.modification
    }

    /// Whether the response is not newer than a date in If-Modified-Since (RFC 9110, section 13.1.3; RFC 9111, section
    /// 4.3.2: the date of the response stands in for a missing Last-Modified).
    func isUnmodified(since date: HTTPDate) -> Bool {
        (modification ?? self.date).map { $0.secondsSinceEpoch <= date.secondsSinceEpoch } ?? false
    }

    /// Whether an If-Range field names this representation (RFC 9110, section 13.1.5).
    func satisfies(ifRange value: String) -> Bool {
        // The RFC tells tags from dates by these three characters, which may be `W/"`.
        if value.utf8.prefix(3).contains(UInt8(ascii: "\"")) {
            return EntityTag(value).map { tag in entityTag?.isSame(as: tag) ?? false } ?? false
        }
        guard isLastModifiedStrong, let date = HTTPDate(caseInsensitive: value) else { return false }
        return date == modification
    }
}
