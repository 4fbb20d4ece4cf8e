import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport

/// The three ways to send a request, so that one body can test them all.
enum Surface: CaseIterable, Sendable {
    case async, handle, callbacks

    func send(
        _ path: String, method: HTTPRequest.Method = .get, parameters: RequestParameters? = nil,
        headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), with client: HTTPSession
    ) async -> Result<SessionResponse<JSONValue?>, SessionError> {
        switch self {
        case .async:
            return await Result { () async throws(SessionError) in
                try await client.call(method, path, parameters).headers(headers).options(options).response(
                    JSONResponseSerializer())
            }
        case .handle:
            let task = client.call(method, path, parameters).headers(headers).options(options).jsonTask()
            task.resume()
            return await Result { () async throws(SessionError) in try await task.value }
        case .callbacks:
            return await withCheckedContinuation { continuation in
                let task = client.call(method, path, parameters).headers(headers).options(options).jsonTask()
                task.onCompletion { continuation.resume(returning: $0) }
                task.resume()
            }
        }
    }
}

extension Result where Failure == SessionError {
    init(_ body: () async throws(SessionError) -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }

    var error: SessionError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var success: Success? {
        if case .success(let value) = self { value } else { nil }
    }
}

/// A client of `http://example.com/api/` over a stub.
func makeClient(
    base: String? = "http://example.com/api", _ transport: any Transport = StubTransport(),
    configure: (inout HTTPSession.Configuration) -> Void = { _ in }
) throws -> HTTPSession {
    var configuration = HTTPSession.Configuration()
    configure(&configuration)
    return try HTTPSession(
        baseURL: base.flatMap { URL(string: $0) }, configuration: configuration, transport: transport)
}

func makeRequest(_ path: String = "x", method: HTTPRequest.Method = .get, body: HTTPRequestBody? = nil) throws
    -> SessionRequest
{
    struct BadURL: Error {}
    guard let url = URL(string: "http://example.com/" + path) else { throw BadURL() }
    return SessionRequest(url: url, method: method, body: body)
}

/// Why a task failed, once it has ended; nil after a success.
func failure<Value>(of task: TransferTask<Value>) async -> SessionError? {
    await Result { () async throws(SessionError) in try await task.value }.error
}
