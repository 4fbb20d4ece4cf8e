internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetCompression
internal import LinnetJSON
internal import LinnetMessages
internal import LinnetTransport

/// Makes the entry of a send.
struct EntryMaker {
    private let facts: SendRecord.Snapshot
    private let configuration: HARRecorder.Configuration

    init(_ facts: SendRecord.Snapshot, _ configuration: HARRecorder.Configuration) {
        self.facts = facts
        self.configuration = configuration
    }

    private var redaction: Redaction { configuration.redaction }
    private var metrics: TransportMetrics? { facts.attempts.last }

    /// - Parameter room: The number of bytes that decoded contents may still take.
    func entry(_ room: inout Int) -> HAR.Entry {
        var entry = HAR.Entry(
            started: facts.date, request: request, response: response(&room), timings: HAR.Timings(facts))
        entry.serverIPAddress = metrics.flatMap { $0.proxy == nil ? $0.remoteEndpoint?.host : nil }
        if let metrics, metrics.connectionID > 0 { entry.connection = String(metrics.connectionID) }
        let remarks = remarks
        if !remarks.isEmpty { entry.comment = remarks.joined(separator: " ") }
        return entry
    }

    private var remarks: [String] {
        var remarks: [String] = []
        if facts.attempts.count > 1 {
            remarks.append("The transport made \(facts.attempts.count) attempts, of which this is the last.")
        }
        if let proxy = metrics?.proxy { remarks.append("The proxy was \(proxy).") }
        if facts.ended == nil { remarks.append("The send had not ended.") }
        if facts.lacksFields { remarks.append("The limits of the recorder left out the response's header fields.") }
        return remarks
    }

    private var httpVersion: String {
        switch metrics?.httpVersion {
        case "http/1.1": "HTTP/1.1"
        case "h2": "HTTP/2"
        case let other: other ?? "unknown"
        }
    }

    // MARK: Request

    private var request: HAR.Request {
        let head = facts.head
        let url = redaction.text(of: head)
        var request = HAR.Request(method: head.method.rawValue, url: url, httpVersion: httpVersion)
        request.headers = redaction.pairs(head.headerFields)
        request.cookies = redaction.cookies(in: head.headerFields)
        request.queryString = redaction.parameters(ofRedacted: url)
        let body = facts.requestBody
        request.bodySize = max(body.count, Int(metrics?.requestBodyBytes ?? 0))
        if request.bodySize > 0 || facts.fingerprint != nil && body.count > 0 { request.postData = postData }
        return request
    }

    private var postData: HAR.PostData {
        let type = facts.head.headerFields[.contentType] ?? ""
        let body = facts.requestBody
        var data = HAR.PostData(mimeType: type)
        if var bytes = body.bytes {
            if MIMEType(contentType: type)?.isForm == true {
                guard facts.head.headerFields[.contentEncoding] == nil else { return codedForm(data) }
                let text = String(decoding: bytes, as: UTF8.self)
                let redacted = redaction.text(ofForm: text)
                if redacted != text { data.custom[CustomName.isRedacted] = true }
                bytes = Data(redacted.utf8)
            }
            let custom = data.custom
            data = HAR.PostData(body.isTruncated ? bytes.withoutPartOfCharacter : bytes, mimeType: type)
            data.custom = custom
        }
        data.custom[CustomName.digest] = facts.fingerprint.map(JSONValue.string)
        if body.isTruncated {
            data.custom[CustomName.isTruncated] = true
            data.comment = "The limits of the recorder truncated the body of \(body.count) bytes."
        }
        return data
    }

    /// Secrets in a form that has a content coding cannot be hidden.
    private func codedForm(_ data: HAR.PostData) -> HAR.PostData {
        var data = data
        data.custom[CustomName.digest] = facts.fingerprint.map(JSONValue.string)
        data.custom[CustomName.isRedacted] = true
        data.comment = "The form is not recorded, because it has a content coding."
        return data
    }

    // MARK: Response

    private func response(_ room: inout Int) -> HAR.Response {
        let version = httpVersion
        guard let head = facts.response else { return withoutResponse(version) }
        let fields = head.headerFields
        var response = HAR.Response(
            status: head.status.code, statusText: head.status.reasonPhrase, httpVersion: version)
        response.headers = redaction.pairs(fields)
        response.cookies = redaction.cookies(setBy: fields)
        response.redirectURL = redirectTarget(head)
        response.bodySize = facts.responseBody.count
        response.content = ContentMaker(facts, configuration).content(&room)
        if let trailers = facts.trailers {
            response.custom[CustomName.trailers] = .list(redaction.pairs(trailers))
        }
        if let failure = facts.failure { describe(failure, &response) }
        if facts.isUpgraded { response.comment = "The connection switched protocols; its data are not recorded." }
        return response
    }

    private func withoutResponse(_ version: String) -> HAR.Response {
        var response = HAR.Response(status: 0, httpVersion: version)
        describe(
            facts.failure ?? TransportError(.cancelled, "The send had not ended when the log was made."), &response)
        return response
    }

    private func describe(_ error: TransportError, _ response: inout HAR.Response) {
        response.comment = error.message
        response.custom[CustomName.error] = .string(error.code.description)
    }

    private func redirectTarget(_ head: HTTPResponse) -> String {
        guard 300..<400 ~= head.status.code,
            let field = head.headerFields.first(where: { $0.name == .location })
        else { return "" }
        return redaction.value(of: field)
    }
}

/// Names of our own fields.
enum CustomName {
    /// The code of the error of a response.
    static let error = "_error"
    /// Whether a body is a part of the real one, because of the recorder's limits.
    static let isTruncated = "_truncated"
    /// Whether the reader left a body before its end.
    static let isUnread = "_unread"
    /// Whether content is still in its content coding.
    static let isCoded = "_coded"
    /// Whether secrets in a body were replaced.
    static let isRedacted = "_redacted"
    /// The digest of a request's body.
    static let digest = "_sha256"
    /// The trailer fields of a response.
    static let trailers = "_trailers"
}

extension Data {
    /// The bytes without an incomplete character at their end, if they are text in UTF-8.
    var withoutPartOfCharacter: Data {
        for dropped in 0...3 where dropped <= count {
            if String(validating: dropLast(dropped), as: UTF8.self) != nil { return Data(dropLast(dropped)) }
        }
        return self
    }
}
