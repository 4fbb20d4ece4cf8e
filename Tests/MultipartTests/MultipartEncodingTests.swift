import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartEncodingTests {
    @Test func dataPartsAreEncodedToTheByte() async throws {
        var form = try MultipartForm(boundary: "B")
        form.append(Data("Ada".utf8), name: "author")
        form.append(Data("{}".utf8), name: "meta", fileName: "m.json", contentType: "application/json")
        form.append(Data(), name: "empty")
        let expected = [
            "--B", "Content-Disposition: form-data; name=\"author\"", "", "Ada",
            "--B", "Content-Disposition: form-data; name=\"meta\"; filename=\"m.json\"",
            "Content-Type: application/json", "", "{}",
            "--B", "Content-Disposition: form-data; name=\"empty\"", "", "",
            "--B--", "",
        ].joined(separator: "\r\n")
        #expect(String(decoding: try await collect(form), as: UTF8.self) == expected)
        #expect(form.contentLength == Int64(expected.utf8.count))
        #expect(form.contentType == "multipart/form-data; boundary=B")
        #expect(form.makeBody().length == form.contentLength)
        #expect(form.makeBody().isReplayable)
    }

    @Test func filePartTakesNameAndTypeFromThePath() async throws {
        let file = try TemporaryFile(Data("%PDF".utf8), name: "a \"b\".pdf")
        var form = try MultipartForm(boundary: "B")
        try form.append(fileAt: file.url, name: "doc")
        try form.append(fileAt: file.url, name: "doc", fileName: "x.bin", contentType: "text/x-y")
        let expected = [
            "--B", "Content-Disposition: form-data; name=\"doc\"; filename=\"a %22b%22.pdf\"",
            "Content-Type: application/pdf", "", "%PDF",
            "--B", "Content-Disposition: form-data; name=\"doc\"; filename=\"x.bin\"",
            "Content-Type: text/x-y", "", "%PDF",
            "--B--", "",
        ].joined(separator: "\r\n")
        #expect(String(decoding: try await collect(form), as: UTF8.self) == expected)
        #expect(form.contentLength == Int64(expected.utf8.count))
    }

    @Test(arguments: [
        ("a\"b", "a%22b"), ("a\r\nb", "a%0D%0Ab"), ("a\nb", "a%0Ab"), ("a\rb", "a%0Db"), ("100%", "100%"),
        ("%22", "%22"), ("a\\b", "a\\b"), ("héllo 🐦", "héllo 🐦"), ("שלום", "שלום"), ("", ""), ("a;b=c", "a;b=c"),
    ])
    func namesAreEscapedByTheWHATWGStandard(name: String, escaped: String) async throws {
        var form = try MultipartForm(boundary: "B")
        form.append(Data(), name: name, fileName: name, contentType: nil)
        let text = String(decoding: try await collect(form), as: UTF8.self)
        #expect(text.contains("name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n\r\n"))
    }

    @Test func parametersAreFlattenedLikeAForm() async throws {
        var form = try MultipartForm(boundary: "B")
        try form.append(["z": 1, "a": ["x", nil], "d": ["k": true], "raw": ParameterValue.data(Data([0, 255]))])
        let expected: [(String, [UInt8])] = [
            ("a[]", Array("x".utf8)), ("a[]", []), ("d[k]", [0x31]), ("raw", [0, 255]), ("z", [0x31]),
        ]
        var bytes: [UInt8] = []
        for (index, part) in expected.enumerated() {
            bytes += Array((index == 0 ? "--B\r\n" : "\r\n--B\r\n").utf8)
            bytes += Array("Content-Disposition: form-data; name=\"\(part.0)\"\r\n\r\n".utf8) + part.1
        }
        bytes += Array("\r\n--B--\r\n".utf8)
        #expect(try await collect(form) == Data(bytes))
    }

    @Test func parametersWithoutNamesAreRefused() {
        var form = MultipartForm()
        let error = #expect(throws: MultipartError.self) { try form.append([1, 2]) }
        #expect(error?.code == .invalidParameters)
    }

    @Test func rawHeadersAreKeptUnchanged() async throws {
        var form = try MultipartForm(boundary: "B")
        var fields = HTTPFields()
        fields.append(HTTPField(name: .contentDisposition, value: "attachment"))
        try fields.set("7", forName: "X-Count")
        form.append(headerFields: fields, body: Data("b".utf8))
        let text = String(decoding: try await collect(form), as: UTF8.self)
        #expect(text == "--B\r\nContent-Disposition: attachment\r\nX-Count: 7\r\n\r\nb\r\n--B--\r\n")
        #expect(form.contentLength == Int64(text.utf8.count))
    }

    @Test func emptyFormIsATypedError() async throws {
        let form = MultipartForm()
        #expect(form.contentLength == nil)
        let error = await #expect(throws: MultipartError.self) { try await collect(form) }
        #expect(error?.code == .emptyForm)
    }

    @Test func otherContentTypeIsATypedError() async throws {
        var form = MultipartForm()
        form.append(Data(), name: "p", fileName: "f", contentType: "text/plain\r\nX-Evil: 1")
        form.append(Data(), name: "q", fileName: "f", contentType: "text/plain")
        let error = await #expect(throws: MultipartError.self) { try await collect(form) }
        #expect(error?.code == .invalidContentType)
        #expect(error?.partName == "p")
        let file = try TemporaryFile(Data())
        let second = #expect(throws: MultipartError.self) {
            try form.append(fileAt: file.url, name: "r", contentType: "nope")
        }
        #expect(second?.code == .invalidContentType)
    }

    @Test(arguments: [
        ("photo.JPG", "image/jpeg"), ("a.cer", "application/x-x509-ca-cert"), ("a.tar.gz", "application/gzip"),
        ("a", "application/octet-stream"), ("a.unknown", "application/octet-stream"), ("a.png", "image/png"),
        ("a.json", "application/json"), ("a.txt", "text/plain"), ("a.webp", "image/webp"), ("a.mp4", "video/mp4"),
    ])
    func extensionTellsTheMediaType(path: String, type: String) {
        let ending = path.contains(".") ? String(path.split(separator: ".").last ?? "") : ""
        #expect(MIMEType.Table.usual.type(forPathExtension: ending) == type)
    }
}
