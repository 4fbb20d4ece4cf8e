import FoundationEssentials
import Linnet
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct HTTPBinStatusTests {
    @Test(arguments: [200, 201, 202, 203, 204, 206, 226], Surface.allCases)
    func everySuccessIsAcceptedAndAnEmptyBodyIsNil(status: Int, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(.get, "status/\(status)", on: session)
            #expect(response.status.code == status)
            #expect(response.value == nil)
        }
    }

    @Test(arguments: [400, 401, 403, 404, 405, 409, 410, 418, 422, 429, 500, 501, 502, 503, 504], Surface.allCases)
    func everyErrorStatusFails(status: Int, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let error = await #expect(throws: SessionError.self) {
                try await surface.send(.get, "status/\(status)", on: session)
            }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.head?.status.code == status)
            #expect(error?.url?.path == "/status/\(status)")
            #expect(error?.body != nil)
        }
    }

    @Test(arguments: Surface.allCases)
    func anErrorKeepsItsBody(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let error = await #expect(throws: SessionError.self) {
                try await surface.send(.get, "status/418", on: session)
            }
            #expect(error?.body.map { String(decoding: $0, as: UTF8.self) }?.contains("teapot") == true)
        }
    }

    @Test(arguments: Verb.allCases)
    func everyVerbSeesTheStatus(verb: Verb) async throws {
        try await Server.httpbin.withSession { session in
            let error = await #expect(throws: SessionError.self) {
                try await Surface.awaited.send(verb, "status/503", on: session)
            }
            #expect(error?.head?.status == .serviceUnavailable)
            let response = try await Surface.awaited.send(verb, "status/204", on: session)
            #expect(response.value == nil)
        }
    }

    @Test(arguments: Surface.allCases)
    func headReportsTheStatus(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let head = try await surface.head("status/204", on: session)
            #expect(head.status == .noContent)
            let error = await #expect(throws: SessionError.self) { try await surface.head("status/404", on: session) }
            #expect(error?.head?.status == .notFound)
        }
    }

    @Test(arguments: ["redirect/", "absolute-redirect/", "relative-redirect/"], Surface.allCases)
    func redirectsAreFollowed(path: String, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await surface.send(.get, path + "3", on: session)
            #expect(response.url.path == "/get")
            #expect(response.redirects.count == 3)
            #expect(response.metrics.count == 4)
        }
    }

    @Test(arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")], Surface.allCases)
    func methodAndBodyFollowTheStatus(redirect: (status: Int, method: String), surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let path = "redirect-to?url=/anything&status_code=\(redirect.status)"
            let response = try await surface.send(.post, path, on: session, parameters: ["a": "1"])
            #expect(response.value?["method"] == .string(redirect.method))
            #expect(response.value?["form"] == (redirect.method == "POST" ? ["a": "1"] : [:]))
            #expect(response.value?["headers"]?["Content-Type"] == nil || redirect.method == "POST")
        }
    }

    @Test(arguments: Surface.allCases)
    func basicCredentialsAreAccepted(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let credentials = HTTPFields.basicAuthorization(username: "user", password: "passwd")
            let response = try await surface.send(
                .get, "basic-auth/user/passwd", on: session, headers: [.authorization: credentials])
            #expect(response.value == ["authenticated": true, "user": "user"])
        }
    }

    @Test(arguments: Surface.allCases)
    func credentialsOfTheSerializerAreAccepted(surface: Surface) async throws {
        try await Server.httpbin.withSession {
            var serializer = FormRequestSerializer()
            try serializer.setBasicAuthorization(username: "user", password: "pässwörd")
            $0.requestSerializer = serializer
        } run: { session in
            let response = try await surface.send(.get, "hidden-basic-auth/user/pässwörd", on: session)
            #expect(response.value?["authenticated"] == true)
        }
    }

    @Test func credentialsOfTheURLAreAcceptedAndNotPartOfErrors() async throws {
        let base = try Server.httpbin.url(user: "user", password: "passwd")
        try await Server.httpbin.withSession(baseURL: base) { session in
            let response = try await session.get("basic-auth/user/passwd").response(JSONResponseSerializer())
            #expect(response.value?["authenticated"] == true)
            let error = await #expect(throws: SessionError.self) {
                try await session.get("basic-auth/user/other").response(JSONResponseSerializer())
            }
            #expect(error?.head?.status == .unauthorized)
            #expect(error?.url?.absoluteString.contains("passwd") == false)
        }
    }

    @Test(arguments: Surface.allCases)
    func cookiesAreSetByARedirectAndSentWithItsTarget(surface: Surface) async throws {
        let jar = CookieJar()
        try await Server.httpbin.withSession {
            $0.cookieJar = jar
        } run: { session in
            let set = try await surface.send(.get, "cookies/set?id=1&theme=dark", on: session)
            #expect(set.value == ["cookies": ["id": "1", "theme": "dark"]])
            #expect(jar.all.map(\.name).sorted() == ["id", "theme"])
            let rest = try await surface.send(.get, "cookies/delete?id=", on: session)
            #expect(rest.value == ["cookies": ["theme": "dark"]])
            #expect(jar.all.map(\.name) == ["theme"])
        }
    }

    @Test(arguments: Surface.allCases)
    func aStoredCredentialAnswersTheChallenge(surface: Surface) async throws {
        let store = CredentialStore()
        let space = ProtectionSpace(origin: try Origin(Server.httpbin.url), realm: "Fake Realm")
        try store.set(.basic(username: "user", password: "passwd"), for: space)
        try await Server.httpbin.withSession {
            $0.credentialStore = store
        } run: { session in
            let response = try await surface.send(.get, "basic-auth/user/passwd", on: session)
            #expect(response.value == ["authenticated": true, "user": "user"])
            #expect(response.metrics.count == 2)
            let error = await #expect(throws: SessionError.self) {
                try await surface.send(.get, "basic-auth/user/other", on: session)
            }
            #expect(error?.head?.status == .unauthorized)
        }
    }

    @Test(arguments: Surface.allCases)
    func aHooksTokenAnswersTheChallenge(surface: Surface) async throws {
        try await Server.httpbin.withSession {
            $0.hooks.didReceiveChallenge = { _, attempt in
                attempt.challenges.contains { $0.scheme == "bearer" } ? .use(try .bearer(token: "t0ken")) : .reject
            }
        } run: { session in
            let response = try await surface.send(.get, "bearer", on: session)
            #expect(response.value == ["authenticated": true, "token": "t0ken"])
        }
    }

    @Test(arguments: Surface.allCases)
    func wrongCredentialsAreUnauthorized(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let wrong = HTTPFields.basicAuthorization(username: "user", password: "wrong")
            for headers: HTTPFields in [[:], [.authorization: wrong]] {
                let error = await #expect(throws: SessionError.self) {
                    try await surface.send(.get, "basic-auth/user/passwd", on: session, headers: headers)
                }
                #expect(error?.code == .unacceptableStatus)
                #expect(error?.head?.status == .unauthorized)
                #expect(error?.head?.headerFields[.wwwAuthenticate] == "Basic realm=\"Fake Realm\"")
            }
        }
    }

    @Test(arguments: Surface.allCases)
    func hiddenBasicAuthIsNotFoundWithoutCredentials(surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let error = await #expect(throws: SessionError.self) {
                try await surface.send(.get, "hidden-basic-auth/user/password", on: session)
            }
            #expect(error?.head?.status == .notFound)
        }
    }
}
