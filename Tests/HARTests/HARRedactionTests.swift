import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetCookies
import LinnetHAR
import LinnetMessages
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// No secret is in a file.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct HARRedactionTests {
    private static let secret = "s3cr3t"

    private func respond(_ request: RecordedRequest) -> MockResponse {
        switch request.path {
        case "/start":
            var response = MockResponse.redirect(to: "/end?code=\(Self.secret)6&page=1")
            response.headerFields.append(
                HTTPField(name: .setCookie, value: "session=\(Self.secret)7; Path=/; HttpOnly; Comment=\(Self.secret)"))
            if let name = HTTPField.Name("X-Csrf-Token") { response.headerFields[name] = Self.secret + "8" }
            return response
        default: return .text("public")
        }
    }

    @Test(arguments: Version.allCases)
    func noSecretIsInTheFile(version: Version) async throws {
        try await Scratch.with { scratch in
            let recorder = HARRecorder { $0.bodies = .all }
            let secret = Self.secret
            let har = try await recorded(
                version, recorder, session: { $0.cookieJar = CookieJar() }, handler: { respond($0) }
            ) { session in
                session.setHeader(.authorization, "Bearer \(secret)1")
                _ = try await session.get("start", ["access_token": "\(secret)2", "page": 1])
                    .header(try #require(HTTPField.Name("X-Api-Key")), "\(secret)3")
                    .header(.referer, "https://user:\(secret)4@example.com/?token=\(secret)5").data()
                _ = try await session.post(
                    "form", ["user": "ada", "password": "\(secret)9", "client_secret": "\(secret)"]
                )
                .data()
                _ = try? await session.post("coded").header(.contentEncoding, "gzip")
                    .header(.contentType, "application/x-www-form-urlencoded")
                    .body(.data(Data("password=\(secret)".utf8))).data()
            }
            let file = URL(filePath: scratch.file("session.har"))
            try har.write(to: file)
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            #expect(!text.contains(secret), "\(text)")
            // What is no secret stays.
            #expect(har.entries[0].request.queryString.contains(HAR.Pair("page", "1")))
            #expect(har.entries[0].response.redirectURL == "/end?code=<redacted>&page=1")
            let cookie = try #require(har.entries[0].response.cookies.first)
            #expect(cookie.name == "session" && cookie.value == "<redacted>" && cookie.path == "/")
            #expect(cookie.isHTTPOnly == true && cookie.isSecure == false)
            #expect(har.entries[0].response["set-cookie"] == "session=<redacted>; Path=/; HttpOnly")
            #expect(har.entries[1].request.cookies == [HAR.Cookie(name: "session", value: "<redacted>")])
            #expect(har.entries[2].request.postData?.text?.contains("user=ada") == true)
            #expect(har.entries[2].request.postData?.text?.contains("password=<redacted>") == true)
            #expect(har.entries[3].request.postData?.text == nil)
        }
    }

    @Test func aProgramAddsNames() async throws {
        let name = try #require(HTTPField.Name("X-House"))
        let recorder = HARRecorder {
            $0.redaction.fieldNames.insert(name)
            $0.redaction.queryNames.insert("house")
        }
        let har = try await recorded(.http1, recorder) { _ in
            .text("")
        } perform: { session in
            _ = try await session.get("a", ["house": "7", "street": "8"]).header(name, "9").data()
        }
        let request = try #require(har.entries.first?.request)
        #expect(request.url.hasSuffix("/a?house=<redacted>&street=8"))
        #expect(request.headers.contains(HAR.Pair("X-House", "<redacted>")))
    }
}
