internal import HTTPTypes

/// The validators, which identify a version of an entity (RFC 9110, section 8.8).
struct ResumeValidators: Sendable, Hashable {
    /// A strong one; a weak one says nothing about bytes.
    var entityTag: String?
    var lastModified: String?

    init(entityTag: String?, lastModified: String?) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// Those of a response which are good enough to put bytes of two responses together.
    init(_ head: HTTPResponse) {
        entityTag = head.headerFields[.eTag].flatMap { Self.isStrong($0) ? $0 : nil }
        lastModified = Self.strongDate(of: head)
    }

    /// What If-Range says; nil when no validator is strong (RFC 9110, section 13.1.5).
    var ifRange: String? { entityTag ?? lastModified }

    /// Whether a response is of another version, as far as it tells.
    func contradict(_ head: HTTPResponse) -> Bool {
        if let entityTag, let other = head.headerFields[.eTag] { return entityTag != other }
        if let lastModified, let other = head.headerFields[.lastModified] { return lastModified != other }
        return false
    }

    /// Whether a part (206) is of this version for certain: parts are put together only where they share a strong validator
    /// (RFC 9110, section 15.3.7.3), and the one that If-Range named is in every honest answer to it. A tag must be (section
    /// 15.3.7); a date may be left out, and is asked for all the same: a server that ignores If-Range (section 13.1.5) and
    /// leaves the date out looks the same, and two versions in one file are worse than a download from the start.
    func confirm(_ head: HTTPResponse) -> Bool {
        if let entityTag { return head.headerFields[.eTag] == entityTag }
        return lastModified != nil && head.headerFields[.lastModified] == lastModified
    }

    /// Tags without quotes violate the standard, but some servers send them, and recognize them. Other servers take If-Range
    /// for a date that does not match, and send the whole.
    private static func isStrong(_ tag: String) -> Bool {
        !tag.isEmpty && !tag.hasPrefix("W/")
            && tag.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ",") }
    }

    /// A Last-Modified that is at least a second before the response's Date: the entity cannot have changed twice within it
    /// (RFC 9110, section 8.8.2.2).
    private static func strongDate(of head: HTTPResponse) -> String? {
        guard let text = head.headerFields[.lastModified], let modified = date(text),
            let sent = head.headerFields[.date].flatMap(date), sent - modified >= 1
        else { return nil }
        return text
    }

    private static func date(_ text: String) -> Int64? {
        HTTPDate(text)?.secondsSinceEpoch
    }
}
