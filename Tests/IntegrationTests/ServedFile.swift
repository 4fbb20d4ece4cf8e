import FoundationEssentials
import Linnet
import Testing

/// A file that every nginx server serves; see `make_files` in `Servers/start`.
struct ServedFile: Sendable, CustomTestStringConvertible {
    let path: String
    let size: Int

    static let small = ServedFile(path: "1k", size: 1024)
    static let middle = ServedFile(path: "bytes-64k", size: 64 * 1024)
    static let large = ServedFile(path: "bytes-10m", size: 10 * 1024 * 1024)

    static let all = [small, middle, large]

    var testDescription: String { path }

    /// 128 numbered lines of eight bytes.
    private static let line = Data(
        (0..<128).map { number in
            let digits = String(number)
            return String(repeating: "0", count: 7 - digits.count) + digits + "\n"
        }.joined().utf8)

    /// The content of the file.
    var bytes: Data {
        var bytes = Data(capacity: size)
        while bytes.count < size { bytes.append(Self.line) }
        return bytes
    }
}

extension HTTPField.Name {
    static var xConnection: HTTPField.Name { HTTPField.Name("X-Connection") ?? .connection }
    static var xConnectionRequests: HTTPField.Name { HTTPField.Name("X-Connection-Requests") ?? .connection }
    static var xMarker: HTTPField.Name { HTTPField.Name("X-Marker") ?? .connection }
}

/// The nginx connection that served a request, and the number of the request on it.
struct ServedBy: Hashable {
    let connection: Int
    let request: Int

    init<Value>(_ response: SessionResponse<Value>) throws {
        connection = try #require(response.head.headerFields[.xConnection].flatMap { Int($0) })
        request = try #require(response.head.headerFields[.xConnectionRequests].flatMap { Int($0) })
    }
}
