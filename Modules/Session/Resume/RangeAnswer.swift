internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

/// The kind of response to a request for the rest of a part.
enum RangeAnswer: Equatable {
    /// The body is the rest (206) of an entity with this total length, if it is known.
    case rest(total: Int64?)
    /// The body is the whole entity, or the body of an error that does not concern the range.
    case whole(DownloadResumption.Reason)
    /// The part cannot be used, so the whole entity must be requested.
    case askAgain(DownloadResumption.Reason)

    init(_ response: StreamedResponse, to resume: ResumeData) throws(SessionError) {
        let head = response.head
        switch head.status.code {
        case 206:
            self = try Self.partial(head, resume, response.url)
        case 416:
            self = .askAgain(.rangeNotSatisfiable)
        default:
            let isSame = !resume.validators.contradict(head) && ResumeValidators(head).ifRange != nil
            self = .whole(isSame ? .rangesIgnored : .entityChanged)
        }
    }

    private static func partial(
        _ head: HTTPResponse, _ resume: ResumeData, _ url: URL
    ) throws(SessionError) -> RangeAnswer {
        // A server that supports Range but not If-Range sends a range of the new version.
        guard resume.validators.confirm(head) else { return .askAgain(.entityChanged) }
        guard let range = head.headerFields[.contentRange].flatMap({ ContentRange($0) }), let bytes = range.bytes else {
            throw SessionError(
                .invalidResponse, "The partial response (206) has no valid Content-Range.", url: url)
        }
        let total = range.complete
        if let total, let expected = resume.totalBytes, total != expected { return .askAgain(.entityChanged) }
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
        return .rest(total: total ?? resume.totalBytes)
    }
}

extension Request {
    /// Returns the request for the rest after a part (RFC 9110, sections 13.1.5 and 14.2).
    func asking(forTheRestOf resume: ResumeData) -> Request {
        var request = self
        request.headerFields[.range] = "bytes=\(resume.offset)-"
        request.headerFields[.ifRange] = resume.validators.ifRange
        return request
    }
}
