import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SuggestedFileNameTests {
    static let dispositions: [(value: String, name: String)] = [
        (#"attachment; filename="report.pdf""#, "report.pdf"),
        ("attachment; filename=report.pdf", "report.pdf"),
        ("attachment;filename = report.pdf ; size=3", "report.pdf"),
        (#"inline; FILENAME="a \"b\" c.txt""#, #"a "b" c.txt"#),
        (#"attachment; filename="plain.txt"; filename*=UTF-8''na%C3%AFve.txt"#, "naïve.txt"),
        ("attachment; filename*=iso-8859-1'en'caf%E9.txt", "café.txt"),
        (#"attachment; filename*=UTF-8''%FF; filename="fallback.txt""#, "fallback.txt"),
        (#"attachment; filename*=UTF-8''%+a; filename="fallback.txt""#, "fallback.txt"),
        ("attachment; filename*=UTF-8''%2e%2e%2fetc%2fpasswd", "passwd"),
        (#"attachment; filename="../../x.txt""#, "x.txt"),
        (#"attachment; filename="C:\\\\dir\\\\x.txt""#, "x.txt"),
        (#"attachment; filename="/etc/cron.d/job""#, "job"),
        (#"attachment; filename=".bashrc""#, "bashrc"),
        (#"attachment; filename=" ..hidden. ""#, "hidden"),
        ("attachment; filename*=UTF-8''.%CC%81bashrc", "\u{301}bashrc"),
        ("attachment; filename*=UTF-8''..%2F%CC%81x%2F%CC%81.%CC%81.y", "\u{301}.\u{301}.y"),
        (#"attachment; filename="..""#, "from-url"),
        (#"attachment; filename="""#, "from-url"),
        (#"attachment; filename="///""#, "from-url"),
        (#"attachment; filename="a;b.txt""#, "a;b.txt"),
        ("attachment", "from-url"),
        ("attachment; filename", "from-url"),
        (#"attachment; filename="unclosed"#, "unclosed"),
        ("attachment; filename*=UTF-8''a%00b%0A.txt", "ab.txt"),
        ("attachment; filename*=UTF-8''photo%E2%80%AEgpj.exe", "photogpj.exe"),
    ]

    @Test(arguments: dispositions)
    func namesAreSafe(value: String, name: String) throws {
        let head = HTTPResponse(status: .ok, headerFields: [.contentDisposition: value])
        let url = try #require(URL(string: "http://example.com/a/from-url"))
        #expect(SuggestedFileName(head, url: url).name == name)
    }

    static let urls: [(url: String, name: String)] = [
        ("http://example.com/", "download"), ("http://example.com", "download"),
        ("http://example.com/a/b.iso?x=1", "b.iso"), ("http://example.com/a%2Fb.iso", "b.iso"),
        ("http://example.com/.htaccess", "htaccess"), ("http://example.com/a%20b", "a b"),
    ]

    @Test(arguments: urls)
    func urlsSuggestNamesToo(url: String, name: String) throws {
        let url = try #require(URL(string: url))
        #expect(SuggestedFileName(HTTPResponse(status: .ok), url: url).name == name)
    }

    /// A shortened name ends in neither a dot nor a blank.
    @Test(arguments: [".", " ", " . ."])
    func longNamesAreCutBeforeDotsAndBlanks(end: String) throws {
        let stem = String(repeating: "a", count: 239)
        let value = "attachment; filename=\"\(stem)\(end)\(String(repeating: "b", count: 40))\""
        let head = HTTPResponse(status: .ok, headerFields: [.contentDisposition: value])
        let url = try #require(URL(string: "http://example.com/x"))
        #expect(SuggestedFileName(head, url: url).name == stem)
    }

    @Test func longNamesKeepTheirExtension() throws {
        let name = String(repeating: "é", count: 400) + ".tar"
        let value = "attachment; filename*=UTF-8''" + name.percentEncoded
        let head = HTTPResponse(status: .ok, headerFields: [.contentDisposition: value])
        let url = try #require(URL(string: "http://example.com/x"))
        let suggested = SuggestedFileName(head, url: url).name
        #expect(suggested.utf8.count <= 240)
        #expect(suggested.hasSuffix("é.tar"))
    }
}

extension String {
    fileprivate var percentEncoded: String {
        utf8.map { byte in "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true) }.joined()
    }
}
