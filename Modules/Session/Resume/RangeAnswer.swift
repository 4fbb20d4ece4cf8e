internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

/// The kind of response to a request for the rest of a part.
enum RangeAnswer: Equatable {
    /// The rest follows (206), and the whole has this length, if it is known.
    case rest(total: Int64?)
    /// All of it follows, or a refusal that has nothing to do with the range.
    case whole(DownloadResumption.Reason)
    /// The part cannot be used: the whole is to be requested.
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
        // A server that knows Range but not If-Range sends a part of the new version.
        guard resume.validators.confirm(head) else { return .askAgain(.entityChanged) }
        guard let range = head.headerFields[.contentRange].flatMap({ ContentRange($0) }), let bytes = range.bytes else {
            throw SessionError(
                .invalidResponse, "The part (206) has no Content-Range that can be read.", url: url)
        }
        let total = range.complete
        if let total, let expected = resume.totalBytes, total != expected { return .askAgain(.entityChanged) }
        guard bytes.lowerBound == resume.offset else {
            throw SessionError(
                .invalidResponse, "The part that was sent begins at \(bytes.lowerBound) instead of \(resume.offset).",
                url: url)
        }
        if let length = head.headerFields[.contentLength], length != String(bytes.count) {
            throw SessionError(
                .invalidResponse, "The part's Content-Range contradicts its Content-Length.", url: url)
        }
        return .rest(total: total ?? resume.totalBytes)
    }
}

extension Request {
    /// The request for the rest of a part (RFC 9110, sections 13.1.5 and 14.2).
    func asking(forTheRestOf resume: ResumeData) -> Request {
        var request = self
        request.headerFields[.range] = "bytes=\(resume.offset)-"
        request.headerFields[.ifRange] = resume.validators.ifRange
        return request
    }
}
