import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCache

/// An instant, in seconds after the responses of the tests were generated and received.
func at(_ seconds: Double) -> Date { Date(timeIntervalSince1970: 1_700_000_000 + seconds) }

/// The first instant as HTTP writes it.
let firstDate = "Tue, 14 Nov 2023 22:13:20 GMT"

/// Instants by their distance from the first one, as HTTP writes them.
let dates: [String: String] = [
    "-10d": "Sat, 04 Nov 2023 22:13:20 GMT", "-1000d": "Wed, 17 Feb 2021 22:13:20 GMT",
    "-100s": "Tue, 14 Nov 2023 22:11:40 GMT", "-50s": "Tue, 14 Nov 2023 22:12:30 GMT",
    "-1s": "Tue, 14 Nov 2023 22:13:19 GMT", "now": firstDate, "+60s": "Tue, 14 Nov 2023 22:14:20 GMT",
    "+1h": "Tue, 14 Nov 2023 23:13:20 GMT",
]

/// Fields that are written as `Name: value|Name: value`; `{+60s}` stands for a date.
func fields(_ text: String) -> HTTPFields {
    var text = text
    for (name, date) in dates { text.replaceAll("{\(name)}", with: date) }
    var fields = HTTPFields()
    for line in text.split(separator: "|") {
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = HTTPField.Name(String(parts[0])), parts.count == 2 else { preconditionFailure("\(line)") }
        fields.append(HTTPField(name: name, value: String(parts[1].drop { $0 == " " })))
    }
    return fields
}

extension String {
    fileprivate mutating func replaceAll(_ text: String, with other: String) {
        while let range = firstRange(of: text) { replaceSubrange(range, with: other) }
    }
}

let url = "https://example.com/a"

func key(_ text: String = url) throws -> CacheKey {
    try #require(URL(string: text).flatMap { CacheKey($0) })
}

func request(_ text: String = "", method: HTTPRequest.Method = .get) -> HTTPRequest {
    HTTPRequest(method: method, scheme: "https", authority: "example.com", path: "/a", headerFields: fields(text))
}

/// A response with these fields, and with the first instant as its date unless it has another or `-Date`.
func response(_ text: String = "", status: Int = 200) -> HTTPResponse {
    let hasNoDate = text.hasSuffix("-Date")
    var fields = fields(hasNoDate ? String(text.dropLast(5)) : text)
    if !hasNoDate, !fields.contains(.date) { fields[.date] = firstDate }
    return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
}

/// A stored response, as if a store had committed it.
func stored(
    _ text: String, status: Int = 200, to request: HTTPRequest = request(), id: UInt64 = 1, url: String = url,
    size: Int64 = 100, requestTime: Double = 0, responseTime: Double = 0, rules: CacheRules = CacheRules()
) throws -> StoredResponse {
    let entry = rules.entry(
        for: response(text, status: status), to: request, key: try key(url), requestTime: at(requestTime),
        responseTime: at(responseTime))
    var stored = try #require(entry, "The response cannot be stored: \(text)")
    stored.id = StoredResponse.ID(rawValue: id)
    stored.bodySize = stored.part.map { Int64($0.range.count) } ?? size
    return stored
}

extension CacheDecision {
    /// The decision in a word.
    var word: String {
        switch self {
        case .bypass: "bypass"
        case .load(let fields): fields.isEmpty ? "load" : "load+"
        case .validate: "validate"
        case .answer(let answer, nil): answer.isStale ? "stale" : "hit"
        case .answer(_, _?): "stale, validating"
        case .unsatisfiable: "unsatisfiable"
        }
    }

    var answer: CachedAnswer? {
        guard case .answer(let answer, _) = self else { return nil }
        return answer
    }

    var validation: CacheValidation? {
        switch self {
        case .validate(let validation): validation
        case .answer(_, let validation): validation
        default: nil
        }
    }
}
