internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization

/// The kind of response to a request for the rest of a part.
enum RangeAnswer: Equatable {
    /// The body is the rest (206) of an entity with this total length.
    case rest(total: Int64)
    /// The body is the whole entity, or the body of an error that does not concern the range.
    case whole(DownloadOptions.Resumption.Reason)
    /// The part cannot be used, so the whole entity must be requested.
    case askAgain(DownloadOptions.Resumption.Reason)

    init(_ response: StreamedResponse, to resume: ResumeData) throws(SessionError) {
        let head = response.head
        switch head.status.code {
        case 206:
            self = try Self.partial(head, resume, response.url)
        case 416:
            // The body of a 416 is an error page, so the entity must be requested anew.
            self = .askAgain(.rangeNotSatisfiable)
        default:
            let isSame = !resume.validators.contradict(head) && ResumeValidators(head).ifRange != nil
            self = .whole(isSame ? .rangesIgnored : .entityChanged)
        }
    }

    private static func partial(
        _ head: HTTPResponse, _ resume: ResumeData, _ url: URL
    ) throws(SessionError) -> RangeAnswer {
        // A server that supports Range but not If-Range sends a range of the new version. A coded range cannot continue
        // the part either, which has no coding.
        let isCoded = head.headerFields[.contentEncoding].map { $0.lowercased() != "identity" } ?? false
        guard resume.validators.confirm(head), !isCoded else { return .askAgain(.entityChanged) }
        guard let range = head.headerFields[.contentRange].flatMap({ ContentRange($0) }), let bytes = range.bytes else {
            throw SessionError(
                .invalidResponse, "The partial response (206) has no valid Content-Range.", url: url)
        }
        if let total = range.complete, let expected = resume.totalBytes, total != expected {
            return .askAgain(.entityChanged)
        }
        // An answer to another range would leave a gap, or repeat bytes.
        guard bytes.lowerBound == resume.offset else {
            throw SessionError(
                .invalidResponse, "The partial response (206) begins at \(bytes.lowerBound), not \(resume.offset).",
                url: url)
        }
        if let length = head.headerFields[.contentLength], length != String(bytes.count) {
            throw SessionError(
                .invalidResponse, "The Content-Range of the partial response (206) contradicts its Content-Length.",
                url: url)
        }
        // A server may send less than the requested range (RFC 9110, section 15.3.7), and only the total length reveals
        // it.
        guard let total = range.complete ?? resume.totalBytes else { return .askAgain(.lengthUnknown) }
        return .rest(total: total)
    }
}

extension SessionRequest {
    /// Returns the request for the rest after a part (RFC 9110, sections 13.1.5 and 14.2).
    func asking(forTheRestOf resume: ResumeData) -> SessionRequest {
        var request = self
        request.headerFields[.range] = "bytes=\(resume.offset)-"
        request.headerFields[isoLatin1: .ifRange] = resume.validators.ifRange
        return request
    }
}

/// The validators that identify a version of an entity (RFC 9110, section 8.8).
struct ResumeValidators: Sendable, Hashable {
    /// A strong entity tag, with its octets as characters (ISO 8859-1). A weak one does not identify the exact bytes.
    var entityTag: String?
    var lastModified: String?

    init(entityTag: String?, lastModified: String?) {
        self.entityTag = entityTag
        self.lastModified = lastModified
    }

    /// The strong validators of a response, which permit combining the bytes of two responses.
    init(_ head: HTTPResponse) {
        entityTag = head.headerFields[isoLatin1: .eTag].flatMap { Self.isStrong($0) ? $0 : nil }
        lastModified = Self.strongDate(of: head)
    }

    /// The value of If-Range; nil if no validator is strong (RFC 9110, section 13.1.5).
    var ifRange: String? { entityTag ?? lastModified }

    /// Whether a response's validators show that it is of another version.
    func contradict(_ head: HTTPResponse) -> Bool {
        if let entityTag, let other = head.headerFields[isoLatin1: .eTag] { return entityTag != other }
        if let lastModified, let other = head.headerFields[.lastModified] { return lastModified != other }
        return false
    }

    /// Whether a partial response (206) certainly belongs to this version. Parts may only be combined if they share a
    /// strong validator (RFC 9110, section 15.3.7.3).
    ///
    /// A 206 must repeat the entity tag, but may omit Last-Modified (section 15.3.7). The date is required here
    /// nevertheless: a server that ignores If-Range (section 13.1.5) and omits the date sends the same response.
    /// Downloading the whole entity again is better than combining two versions in one file.
    func confirm(_ head: HTTPResponse) -> Bool {
        if let entityTag { return head.headerFields[isoLatin1: .eTag] == entityTag }
        return lastModified != nil && head.headerFields[.lastModified] == lastModified
    }

    /// Entity tags without quotes violate RFC 9110, but some servers send and recognize them. Other servers treat such
    /// an If-Range as a date that does not match, and send the whole entity.
    private static func isStrong(_ tag: String) -> Bool {
        !tag.isEmpty && !tag.hasPrefix("W/")
            && tag.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ",") }
    }

    /// Returns the Last-Modified date if it is a strong validator: at least a second before the response's Date, so the
    /// entity cannot have changed again within the same second (RFC 9110, section 8.8.2.2).
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
