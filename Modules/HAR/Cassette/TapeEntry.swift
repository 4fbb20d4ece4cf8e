internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetJSON
internal import LinnetMessages
internal import LinnetTransport

/// The parts of a request by which it is recognized.
struct TapeKey: Hashable {
    let method: String
    /// Without a fragment, redacted.
    let url: String
}

/// One entry of a cassette, checked.
struct TapeEntry: Sendable {
    /// The answer to a request.
    struct Answer: Sendable {
        var head: HTTPResponse?
        /// Nil if it was not recorded as a whole; ``problem`` says why.
        var body: Data?
        var problem: String?
        /// Whether the recorded reader has left the body before its end.
        var isUnread = false
        var trailers: HTTPFields?
        var failure: TransportError?
        var httpVersion: String?
    }

    let index: Int
    let recorded: HAR.Entry
    let key: TapeKey
    let fields: HTTPFields
    /// The digest of the body; nil if it is unknown.
    let fingerprint: String?
    let answer: Answer
}

/// Checks entries.
struct TapeReader {
    private static let mostFields = 30_000
    private static let methodsWithoutContent: Set<HTTPRequest.Method> = [.head]

    private let entry: HAR.Entry
    private let place: HARPlace
    private let configuration: Cassette.Configuration

    /// Returns the checked entries, without those that cannot answer: cancelled sends, and connections that switched
    /// protocols.
    static func entries(_ har: HAR, _ configuration: Cassette.Configuration) throws(HARError) -> [TapeEntry] {
        var entries: [TapeEntry] = []
        for (index, entry) in har.entries.enumerated() {
            let isCancelled = entry.response.custom[CustomName.error]?.string == "cancelled"
            if entry.response.status == 101 || isCancelled { continue }
            let place = HARPlace.element(.member(.member(.root, "log"), "entries"), index)
            let reader = TapeReader(entry: entry, place: place, configuration: configuration)
            entries.append(try reader.checked(index))
        }
        return entries
    }

    private init(entry: HAR.Entry, place: HARPlace, configuration: Cassette.Configuration) {
        (self.entry, self.place, self.configuration) = (entry, place, configuration)
    }

    private func checked(_ index: Int) throws(HARError) -> TapeEntry {
        let request = HARPlace.member(place, "request")
        guard let method = HTTPRequest.Method(entry.request.method) else {
            throw .invalid(.member(request, "method"), "an HTTP method")
        }
        let fields = try fields(entry.request.headers, .member(request, "headers"))
        return TapeEntry(
            index: index, recorded: entry,
            key: TapeKey(method: method.rawValue, url: try url(.member(request, "url"))), fields: fields,
            fingerprint: try fingerprint(fields, request), answer: try answer(to: method))
    }

    private func url(_ place: HARPlace) throws(HARError) -> String {
        guard let url = URL(string: String(entry.request.url.prefix { $0 != "#" })),
            ["http", "https"].contains(url.scheme?.lowercased()), url.host()?.isEmpty == false
        else { throw .invalid(place, "an http or https URL with a host") }
        let text = configuration.redaction.text(of: url)
        return url.path().isEmpty && url.query() == nil ? text + "/" : text
    }

    /// Pseudo-header fields, which browsers write for HTTP/2, are skipped.
    private func fields(_ pairs: [HAR.Pair], _ place: HARPlace) throws(HARError) -> HTTPFields {
        guard pairs.count <= Self.mostFields else {
            throw .invalid(place, "a list of at most \(Self.mostFields) fields")
        }
        var fields = HTTPFields()
        for (index, pair) in pairs.enumerated() where !pair.name.hasPrefix(":") {
            guard let name = HTTPField.Name(pair.name) else {
                throw .invalid(.member(.element(place, index), "name"), "the name of a header field")
            }
            guard HTTPField.isValidValue(pair.value) else {
                throw .invalid(.member(.element(place, index), "value"), "the value of a header field")
            }
            fields.append(HTTPField(name: name, value: pair.value))
        }
        return fields
    }

    // MARK: Request

    private func fingerprint(_ fields: HTTPFields, _ request: HARPlace) throws(HARError) -> String? {
        var fingerprint = BodyFingerprint(contentType: fields[.contentType], configuration.redaction)
        guard let post = entry.request.postData else {
            return entry.request.bodySize > 0 ? nil : fingerprint.hexadecimal
        }
        let place = HARPlace.member(request, "postData")
        guard let data = try body(place, { () throws(HARError) in try post.data() }),
            post.custom[CustomName.isTruncated] == nil
        else { return post.custom[CustomName.digest]?.string }
        let size = entry.request.bodySize
        guard size < 0 || size == data.count || post.custom[CustomName.isRedacted] != nil else {
            throw wrongSize(.member(request, "bodySize"), size, data.count)
        }
        data.withUnsafeBytes { fingerprint.append($0) }
        return fingerprint.hexadecimal
    }

    private func body(
        _ place: HARPlace, _ data: () throws(HARError) -> Data?
    ) throws(HARError) -> Data? {
        do throws(HARError) {
            return try data()
        } catch {
            throw HARError(error.code, "\(place): \(error.message)", place: "\(place)", underlying: error.underlying)
        }
    }

    private func wrongSize(_ place: HARPlace, _ size: Int, _ real: Int) -> HARError {
        HARError(
            .damagedBody, "\(place) in the HAR is \(size), but the recorded body has \(real) bytes.",
            place: "\(place)")
    }

    // MARK: Response

    private func answer(to method: HTTPRequest.Method) throws(HARError) -> TapeEntry.Answer {
        let response = entry.response
        let place = HARPlace.member(place, "response")
        var answer = TapeEntry.Answer()
        answer.failure = try failure(.member(place, CustomName.error))
        answer.httpVersion = version(response.httpVersion)
        guard response.status != 0 else {
            guard answer.failure != nil else { throw .invalid(.member(place, "status"), "a status") }
            return answer
        }
        guard 200...999 ~= response.status else {
            throw .invalid(.member(place, "status"), "the status of a final response")
        }
        let fields = try fields(response.headers, .member(place, "headers"))
        try readContent(.member(place, "content"), &answer)
        answer.head = HTTPResponse(
            status: HTTPResponse.Status(code: response.status, reasonPhrase: response.statusText),
            headerFields: replayed(fields, method, answer.body))
        answer.trailers = try trailers(.member(place, CustomName.trailers))
        return answer
    }

    private func version(_ text: String) -> String? {
        switch text.lowercased() {
        case "http/2", "http/2.0", "h2": "h2"
        case "unknown", "": nil
        default: "http/1.1"
        }
    }

    private func failure(_ place: HARPlace) throws(HARError) -> TransportError? {
        guard let value = entry.response.custom[CustomName.error] else { return nil }
        guard let code = TransportError.Code.all.first(where: { $0.description == value.string }) else {
            throw .invalid(place, "the code of an error")
        }
        return TransportError(code, entry.response.comment ?? "The recorded request failed.")
    }

    private func readContent(_ place: HARPlace, _ answer: inout TapeEntry.Answer) throws(HARError) {
        let content = entry.response.content
        let data = try body(place, { () throws(HARError) in try content.data() })
        answer.isUnread = content.custom[CustomName.isUnread]?.bool == true
        guard content.custom[CustomName.isTruncated]?.bool != true else {
            answer.problem = "was truncated by the limits of the recorder"
            return
        }
        guard let data else {
            // Without content, there is nothing to record.
            if content.size <= 0, entry.response.bodySize <= 0 {
                answer.body = Data()
            } else {
                answer.problem = "was not recorded"
            }
            return
        }
        guard content.size < 0 || content.size == data.count else {
            throw wrongSize(.member(place, "size"), content.size, data.count)
        }
        guard content.text != Redaction.mark else {
            answer.problem = "is redacted"
            return
        }
        answer.body = data
    }

    /// The fields of the replayed response: without secrets, and without what described the content in its codings.
    private func replayed(_ fields: HTTPFields, _ method: HTTPRequest.Method, _ body: Data?) -> HTTPFields {
        var replayed = HTTPFields()
        for field in fields where field.value != Redaction.mark {
            var field = field
            if Self.urlNames.contains(field.name) {
                field.value = Self.encoded(field.value)
            }
            replayed.append(field)
        }
        replayed[.transferEncoding] = nil
        guard method != .head, let body, !body.isEmpty else { return replayed }
        if entry.response.content.custom[CustomName.isCoded]?.bool != true { replayed[.contentEncoding] = nil }
        if replayed.contains(.contentLength) { replayed[.contentLength] = String(body.count) }
        return replayed
    }

    private static let urlNames: Set<HTTPField.Name> = [.location, .contentLocation, .referer]

    /// A URL cannot have the characters of the mark.
    private static func encoded(_ url: String) -> String {
        url.split(separator: Redaction.mark, omittingEmptySubsequences: false).joined(separator: "%3Credacted%3E")
    }

    private func trailers(_ place: HARPlace) throws(HARError) -> HTTPFields? {
        guard let value = entry.response.custom[CustomName.trailers] else { return nil }
        guard let list = value.array else { throw .invalid(place, "an array") }
        var pairs: [HAR.Pair] = []
        for (index, element) in list.enumerated() {
            pairs.append(try HAR.Pair(HARFields(element, at: .element(place, index))))
        }
        return try fields(pairs, place)
    }
}
