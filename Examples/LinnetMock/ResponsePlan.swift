import FoundationEssentials
import HTTPTypes
import LinnetJSON
import LinnetTesting

/// A response of a file of routes.
struct ResponsePlan: Decodable {
    private var status = HTTPResponse.Status.ok
    private var headerFields = HTTPFields()
    private var body = Body.none
    /// The time before the head is sent.
    private var delay: Duration?
    /// The bytes a second.
    private var rate: Int?
    private var faults: [MockServer.Fault] = []

    private enum Body {
        case none
        case text(String, type: String?)
        case bytes(Data)
        /// The path of a file, relative to the folder of the file of routes.
        case file(String)
        case events([MockResponse.Event])
        case redirect(String)
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case status, fields, text, json, base64, file, events, location, delay, bytesPerSecond, faults
    }

    private static let bodies: [CodingKeys] = [.text, .json, .base64, .file, .events, .location]

    init(from decoder: any Decoder) throws { try self.init(from: decoder, beside: []) }

    /// - Parameter others: The names of further members of the object, which are not the response's.
    init(from decoder: any Decoder, beside others: [String]) throws {
        let values = try decoder.container(knowing: CodingKeys.self, and: others)
        let given = Self.bodies.filter(values.contains)
        if given.count > 1 {
            throw values.fault(given[1], "A response has one of \(given.map(\.rawValue).joined(separator: " and ")).")
        }
        if let key = given.first { body = try Self.body(key, in: values) }
        if given == [.location] { status = .found }
        if let code = try values.decodeIfPresent(Int.self, forKey: .status) {
            guard (200...599).contains(code) else { throw values.fault(.status, "A status is from 200 to 599.") }
            status = HTTPResponse.Status(code: code)
        }
        for (name, value) in try values.decodeIfPresent([String: String].self, forKey: .fields) ?? [:] {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                throw values.fault(.fields, "\"\(name): \(value)\" is no header field.")
            }
            headerFields[name] = value
        }
        if let seconds = try values.decodeIfPresent(Double.self, forKey: .delay) {
            guard (0...3_600).contains(seconds) else {
                throw values.fault(.delay, "A delay is from 0 to 3600 seconds.")
            }
            delay = .seconds(seconds)
        }
        rate = try values.decodeIfPresent(Int.self, forKey: .bytesPerSecond)
        if let rate, rate < 1 { throw values.fault(.bytesPerSecond, "A rate is at least 1 byte a second.") }
        faults = try values.decodeIfPresent([FaultPlan].self, forKey: .faults)?.map(\.fault) ?? []
    }

    private static func body(_ key: CodingKeys, in values: KeyedDecodingContainer<CodingKeys>) throws -> Body {
        switch key {
        case .json:
            let text = String(decoding: try values.decode(JSONValue.self, forKey: key).data(), as: UTF8.self)
            return .text(text, type: "application/json")
        case .base64:
            guard let bytes = Data(base64Encoded: try values.decode(String.self, forKey: key)) else {
                throw values.fault(key, "The text is not Base64.")
            }
            return .bytes(bytes)
        case .file: return .file(try values.decode(String.self, forKey: key))
        case .events: return .events(try values.decode([EventPlan].self, forKey: key).map(\.event))
        case .location: return .redirect(try values.decode(String.self, forKey: key))
        default: return .text(try values.decode(String.self, forKey: key), type: nil)
        }
    }

    /// The server's response.
    ///
    /// - Parameter folder: The folder of the file of routes.
    func response(in folder: URL) throws(RouteFileError) -> MockResponse {
        var response: MockResponse
        switch body {
        case .none: response = MockResponse(status: status)
        case .text(let text, let type):
            response = .text(text, status: status)
            if let type { response.headerFields[.contentType] = type }
        case .bytes(let bytes): response = MockResponse(status: status, body: .bytes(bytes))
        case .file(let path):
            response = MockResponse(status: status, body: .bytes(try Self.contents(of: path, in: folder)))
        case .events(let events):
            response = .events(events)
            response.status = status
        case .redirect(let location): response = .redirect(to: location, status: status)
        }
        for field in headerFields { response.headerFields[field.name] = field.value }
        response.faults = faults
        if let rate {
            // Ten steps a second, or fewer of one byte.
            let pause = rate < 10 ? 1_000 / rate : 100
            response.throttle = MockResponse.Throttle(bytes: max(1, rate / 10), pause: .milliseconds(pause))
        }
        return delay.map(response.delayed) ?? response
    }

    private static func contents(of path: String, in folder: URL) throws(RouteFileError) -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path, relativeTo: folder))
        } catch {
            throw RouteFileError("\(path) cannot be read: \(RouteFileError.reason(of: error))")
        }
    }
}

private struct EventPlan: Decodable {
    let event: MockResponse.Event

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case data, type, id, retry
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(knowing: CodingKeys.self)
        event = MockResponse.Event(
            try values.decode(String.self, forKey: .data), type: try values.decodeIfPresent(String.self, forKey: .type),
            id: try values.decodeIfPresent(String.self, forKey: .id),
            retry: try values.decodeIfPresent(Double.self, forKey: .retry).map { .seconds($0) })
    }
}
