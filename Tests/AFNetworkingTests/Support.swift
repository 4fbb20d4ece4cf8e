import FoundationEssentials
internal import LifetimeSupport
import LinnetAFNetworking
import LinnetTesting
import LinnetTransport
internal import Testing

extension Trait where Self == LeavesNothingAlive {
    /// What a test makes is gone at its end.
    static var leavesNothingAlive: Self { Self() }
}

/// A client of `http://example.com/api/` over a stub.
func makeClient(
    _ transport: any Transport = StubTransport(), configure: (inout HTTPSession.Configuration) -> Void = { _ in }
) throws -> HTTPSession {
    var configuration = HTTPSession.Configuration()
    configure(&configuration)
    return try HTTPSession(
        baseURL: URL(string: "http://example.com/api"), configuration: configuration, transport: transport)
}

func makeRequest(_ path: String = "x", method: HTTPRequest.Method = .get, body: HTTPRequestBody? = nil) throws
    -> SessionRequest
{
    SessionRequest(url: try #require(URL(string: "http://example.com/" + path)), method: method, body: body)
}

/// A folder for one test, removed with it.
struct ScratchFolder {
    let url: URL

    subscript(name: String) -> URL { url.appending(path: name) }

    func text(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: self[name]), as: UTF8.self)
    }
}

func withScratchFolder<Result>(_ perform: (ScratchFolder) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "linnet-af-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await perform(ScratchFolder(url: url))
}

/// Bytes without a pattern that is shorter than 251 bytes.
func makeBytes(_ count: Int) -> Data { Data((0..<count).map { UInt8($0 % 251) }) }
