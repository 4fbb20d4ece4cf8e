import FoundationEssentials
import HTTPTypes
import LinnetAuthentication
import LinnetCache
import LinnetCookies
import LinnetMessages
import LinnetMultipart
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

@testable import LinnetSession

/// `dump` shows as few secrets as `print`.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct MirrorTests {
    private static let secret = "s3cret"
    private static let fields: HTTPFields = [
        .authorization: "Bearer s3cret", .setCookie: "id=s3cret", .location: "https://ada:s3cret@h/?token=s3cret",
        .accept: "text/csv",
    ]
    private static let head = HTTPResponse(status: .unauthorized, headerFields: fields)
    private static let body = Data("password=s3cret".utf8)
    private let url: URL
    private let request: SessionRequest
    private let response: SessionResponse<String>

    init() throws {
        url = try #require(URL(string: "https://ada:s3cret@h/p?token=s3cret&page=2"))
        request = SessionRequest(url: url, method: .post, headerFields: Self.fields, body: .data(Self.body))
        var response = SessionResponse(value: Self.secret, url: url, head: Self.head, data: Self.body)
        response.redirects = [HTTPRedirect(head: Self.head, url: url, target: url)]
        self.response = response
    }

    private func expectNoSecret(in value: Any, _ location: SourceLocation = #_sourceLocation) {
        var dumped = ""
        dump(value, to: &dumped)
        // The bytes of the secret, where a body is shown as numbers.
        let bytes = ["115", "51", "99", "114", "101", "116"].joined(separator: "\n")
        let lines = dumped.split(separator: "\n").map { $0.filter(\.isNumber) }.joined(separator: "\n")
        for text in [dumped, "\(value)", String(reflecting: value)] {
            #expect(!text.contains(Self.secret), sourceLocation: location)
        }
        #expect(!lines.contains(bytes), sourceLocation: location)
    }

    private func error() -> SessionError {
        var error = SessionError(
            .unacceptableStatus, "x",
            underlying: SerializationError(
                code: .unacceptableStatus, message: "x",
                response: SerializedResponse(url: url, head: Self.head, body: Self.body)),
            url: url)
        error.head = Self.head
        error.body = Self.body
        error.redirects = response.redirects
        return error
    }

    @Test func requestsAndResponses() throws {
        for value: Any in [
            request, request.body as Any, response, response.redirects, response.asBody,
            HTTPResponseBody.whole(Self.body),
            RetryPolicy.Attempt(number: 1, request: request, head: Self.head, error: error()),
            RedirectPolicy.Decision.follow(request), TaskCompletion(error(), metrics: []),
            AuthenticationAttempt(
                origin: try Origin(url), challenges: [], head: Self.head, failures: 0, proposedCredential: nil),
            TaskEvent(taskID: 1, kind: .created, url: url, tag: nil, taskDescription: nil),
            ResumeData(
                url: url, entityTag: nil, lastModified: nil, partialFile: URL(filePath: "/part"), receivedBytes: 1,
                totalBytes: nil, digest: ""),
        ] { expectNoSecret(in: value) }
        var dumped = ""
        dump(request, to: &dumped)
        #expect(dumped.contains("page=2") && dumped.contains("text/csv") && dumped.contains("POST"))
        dumped = ""
        dump(response, to: &dumped)
        #expect(dumped.contains("401") && dumped.contains("15 bytes"))
    }

    @Test func errors() throws {
        expectNoSecret(in: error())
        expectNoSecret(in: [error() as any Error])
        let wrapped = SessionError(.interceptorFailed, "x", underlying: error(), url: url)
        expectNoSecret(in: Result<Int, SessionError>.failure(wrapped))
        let session = try HTTPSession()
        for text in ["http://ada:s3cret@", "ftp://ada:s3cret@h/?token=s3cret", "http://g\\@h/?token=s3cret"] {
            let error = #expect(throws: SessionError.self) { try session.url(for: text) }
            expectNoSecret(in: error as Any)
        }
    }

    @Test func configurationsSessionsAndCalls() async throws {
        var serializer = FormRequestSerializer()
        serializer.headerFields[.authorization] = "Bearer s3cret"
        let credentials = CredentialStore()
        credentials.set(
            try .password(username: "ada", password: Self.secret), for: ProtectionSpace(origin: try Origin(url)))
        var configuration = HTTPSession.Configuration()
        configuration.headerFields = Self.fields
        configuration.requestSerializer = serializer
        configuration.credentialStore = credentials
        configuration.proxies = .fixed(try Proxy("http://ada:s3cret@proxy.example"))
        let jar = CookieJar()
        jar.store(setCookieFields: Self.fields, of: url)
        configuration.cookieJar = jar
        let session = try HTTPSession(
            baseURL: url, configuration: configuration, transport: StubTransport { _ in .json("1") })
        let call = session.post("/x?token=s3cret", ["password": Self.secret]).header(.authorization, "Bearer s3cret")
        let task = session.call(request).task()
        for value: Any in [
            configuration, session, call, task, serializer, credentials, jar,
            session.call(request).serverSentEvents(), CookieContext(mainDocument: url),
        ] { expectNoSecret(in: value) }
        _ = try await task.value
        expectNoSecret(in: task)
    }

    @Test func aSessionsStructureIsPrinted() throws {
        let head = HTTPRequest(
            method: .post, scheme: "https", authority: "h", path: "/p?token=s3cret", headerFields: Self.fields)
        let bytes = ByteBuffer(bytes: Self.body)
        let body = TransportResponseBody(bytes, trailers: Self.fields)
        let key = try #require(CacheKey(url))
        var vary = Self.head
        vary.headerFields[.vary] = "Authorization"
        let stored = StoredResponse(
            id: .init(rawValue: 1), key: key, head: vary,
            variant: try #require(StoredResponse.Variant(of: vary, to: head)), requestTime: Date(),
            responseTime: Date(), bodySize: 1)
        let parts = try MultipartPart.all(
            in: Data("--b\r\nSet-Cookie: s3cret\r\n\r\npassword=s3cret\r\n--b--".utf8),
            contentType: "multipart/mixed; boundary=b")
        var form = MultipartForm()
        form.append(Self.body, name: "password")
        for value: Any in [
            TransportRequest(head: head, body: .bytes(bytes)), TransportRequestBody.bytes(bytes), body,
            TransportResponse(head: Self.head, body: body), stored, stored.variant, form, parts,
        ] { expectNoSecret(in: value) }
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!dumped.contains(Self.secret) && !String(reflecting: key).contains(Self.secret))
    }
}

extension SessionResponse {
    fileprivate var asBody: StreamedResponse { StreamedResponse(url: url, head: head, body: .whole(data)) }
}
