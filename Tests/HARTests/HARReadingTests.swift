import CommandSupport
import FoundationEssentials
import LinnetHAR
import LinnetJSON
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The document model, read and written.
@Suite(.timeLimit(.minutes(1)))
struct HARReadingTests {
    /// A log with all fields, known and unknown ones.
    static let complete = """
        {"log":{"version":"1.2","creator":{"name":"Browser","version":"1","comment":"c"},"browser":{"name":"B",
        "version":"2","_x":1},"pages":[{"startedDateTime":"2024-02-29T12:00:00.5+01:00","id":"p","title":"t",
        "pageTimings":{"onContentLoad":-1,"onLoad":12.5},"comment":""}],"entries":[{"pageref":"p",
        "startedDateTime":"2024-02-29T12:00:00.123Z","time":10.25,"request":{"method":"POST","url":"https://example.com/a?b=c",
        "httpVersion":"HTTP/1.1","cookies":[{"name":"n","value":"v","path":"/","domain":"d","expires":"e",
        "httpOnly":true,"secure":false}],"headers":[{"name":"A","value":"b","comment":"c"}],
        "queryString":[{"name":"b","value":"c"}],"postData":{"mimeType":"text/plain","params":[{"name":"f",
        "value":"x","fileName":"y","contentType":"z"}],"text":"hello","_custom":[1]},"headersSize":-1,"bodySize":5},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[],
        "content":{"size":3,"compression":0,"mimeType":"text/plain","text":"AP/+","encoding":"base64"},
        "redirectURL":"","headersSize":10,"bodySize":3,"_error":null,"_transferSize":13},
        "cache":{"beforeRequest":{"lastAccess":"l","eTag":"e","hitCount":2,"expires":"x"},"afterRequest":null},
        "timings":{"blocked":1,"dns":-1,"connect":2,"send":0.25,"wait":3,"receive":4,"ssl":1.5},
        "serverIPAddress":"::1","connection":"7","unknown":true,"_priority":"High"}],"comment":"all","_own":{}}}
        """

    @Test func aDocumentIsReadAndWritten() throws {
        let har = try HAR(parsing: Data(Self.complete.utf8))
        #expect(
            har.creator
                == {
                    var it = HAR.Creator(name: "Browser", version: "1"); it.comment = "c"; return it
                }())
        #expect(har.pages.first?.load == 12.5 && har.pages.first?.contentLoad == nil)
        let entry = try #require(har.entries.first)
        #expect(entry.request.postData?.params.first?.fileName == "y")
        #expect(try entry.response.content.data() == Data([0x00, 0xFF, 0xFE]))
        #expect(entry.timings.dns == nil && entry.timings.total == 10.25 && entry.time == 10.25)
        #expect(entry.cache.beforeRequest?.hitCount == 2 && entry.cache.afterRequest == nil)
        #expect(entry.custom == ["_priority": "High"] && har.custom == ["_own": [:]])
        #expect(har.browser?.custom == ["_x": 1])
        let again = try HAR(parsing: har.data())
        #expect(again == har)
        let text = String(decoding: har.data(), as: UTF8.self)
        #expect(text.contains("2024-02-29T12:00:00.123Z") && !text.contains("unknown"))
    }

    /// A text in place of another one in the complete log, the code, and the place of the error.
    @Test(
        arguments: [
            (#""version":"1.2","#, "", HARError.Code.missingField, "log.version"),
            (#""entries":["#, #""entries":{},"x":["#, .invalidValue, "log.entries"),
            (#""method":"POST","#, "", .missingField, "log.entries[0].request.method"),
            (#""method":"POST""#, #""method":7"#, .invalidValue, "log.entries[0].request.method"),
            (#""status":200"#, #""status":"200""#, .invalidValue, "log.entries[0].response.status"),
            (#""status":200"#, #""status":1000"#, .invalidValue, "log.entries[0].response.status"),
            (#""status":200"#, #""status":1e999"#, .invalidValue, "log.entries[0].response.status"),
            (#""size":3"#, #""size":-2"#, .invalidValue, "log.entries[0].response.content.size"),
            (#""wait":3"#, #""wait":-3"#, .invalidValue, "log.entries[0].timings.wait"),
            (#""wait":3,"#, "", .missingField, "log.entries[0].timings.wait"),
            ("2024-02-29T12:00:00.123Z", "2023-02-29T12:00:00Z", .invalidValue, "log.entries[0].startedDateTime"),
            (#""httpOnly":true"#, #""httpOnly":1"#, .invalidValue, "log.entries[0].request.cookies[0].httpOnly"),
            (#""headers":[{"name":"A","#, #""headers":[{"#, .missingField, "log.entries[0].request.headers[0].name"),
        ])
    func aDocumentThatBreaksTheFormatIsRefused(old: String, new: String, code: HARError.Code, place: String) throws {
        let text = Self.complete.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(text.count == 2)
        let error = #expect(throws: HARError.self) { try HAR(parsing: Data(text.joined(separator: new).utf8)) }
        #expect(error?.code == code && error?.place == place, "\(String(describing: error))")
    }

    @Test(
        arguments: [
            ("", HARError.Code.invalidJSON), ("{", .invalidJSON), ("[]", .invalidValue), ("{}", .missingField),
            (#"{"log":[]}"#, .invalidValue), (#"{"log":{},"log":{}}"#, .invalidJSON),
            (String(repeating: "[", count: 100_000), .invalidJSON),
        ])
    func otherTextsAreRefused(text: String, code: HARError.Code) {
        let error = #expect(throws: HARError.self) { try HAR(parsing: Data(text.utf8)) }
        #expect(error?.code == code)
    }

    @Test func theLimitsHold() throws {
        let text = Data(Self.complete.utf8)
        for change: (inout HAR.Limits) -> Void in [
            { $0.maximumSize = 1000 }, { $0.maximumEntries = 0 }, { $0.maximumMemory = 1000 },
        ] {
            let error = #expect(throws: HARError.self) { try HAR(parsing: text, limits: HAR.Limits { change(&$0) }) }
            #expect(error?.code == .tooLarge)
        }
    }

    /// The file has no blocks, so that the test is fast; it would be read if its size were not checked before.
    @Test func aFileOfAGigabyteIsRefusedUnread() async throws {
        try await Scratch.with { scratch in
            let path = try scratch.write("large.har", "{")
            try #require(truncate(path, 1 << 30) == 0)
            let error = #expect(throws: HARError.self) { try HAR(contentsOf: URL(filePath: path)) }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test func whatIsNoFileIsUnreadable() async throws {
        try await Scratch.with { scratch in
            try #require(mkfifo(scratch.file("pipe"), 0o600) == 0)
            for path in [scratch.path, scratch.file("missing.har"), scratch.file("pipe")] {
                let error = #expect(throws: HARError.self) { try HAR(contentsOf: URL(filePath: path)) }
                #expect(error?.code == .unreadableFile, "\(path)")
            }
        }
    }

    @Test func aFileIsWrittenAsAWholeOrNotAtAll() async throws {
        try await Scratch.with { scratch in
            let file = URL(filePath: scratch.file("log.har"))
            try HAR().write(to: file)
            #expect(try HAR(contentsOf: file) == HAR())
            var status = stat()
            try #require(stat(file.path, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
            try FileManager.default.createDirectory(atPath: scratch.file("folder"), withIntermediateDirectories: false)
            for place in ["folder", "missing/log.har"] {
                let error = #expect(throws: HARError.self) { try HAR().write(to: URL(filePath: scratch.file(place))) }
                #expect(error?.code == .unwritableFile, "\(place)")
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted() == ["folder", "log.har"])
        }
    }

    @Test func bytesThatAreNoTextAreBase64() throws {
        let content = HAR.Content(Data([0xFF, 0x00]), mimeType: "image/png")
        #expect(content.encoding == "base64" && content.size == 2)
        #expect(try content.data() == Data([0xFF, 0x00]))
        let text = HAR.PostData(Data("grüße\u{0}".utf8), mimeType: "text/plain")
        #expect(text.encoding == nil && text.text == "grüße\u{0}")
        var damaged = content
        damaged.text = "not base64!"
        #expect(throws: HARError.self) { try damaged.data() }
        damaged.encoding = "rot13"
        #expect(throws: HARError.self) { try damaged.data() }
    }
}
