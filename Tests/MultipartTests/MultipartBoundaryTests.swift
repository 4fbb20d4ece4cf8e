import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartBoundaryTests {
    @Test func randomBoundariesDifferAndAreTokens() {
        let boundaries = (0..<1000).map { _ in MultipartForm().boundary }
        #expect(Set(boundaries).count == 1000)
        for boundary in boundaries {
            #expect(boundary.utf8.count <= 70)
            #expect(boundary.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x7A) || $0 == 0x2D })
            #expect(MIMEType("multipart/form-data; boundary=\(boundary)")?.parameter("boundary") == boundary)
        }
    }

    @Test(arguments: ["", "a b ", "ü", "a\"b", "a\r\nb", String(repeating: "a", count: 71)])
    func malformedBoundariesAreRefused(boundary: String) {
        let error = #expect(throws: MultipartError.self) { try MultipartForm(boundary: boundary) }
        #expect(error?.code == .invalidBoundary)
    }

    @Test(arguments: ["a", "a b", "'()+_,-./:=?", String(repeating: "a", count: 70)])
    func boundaryParameterReadsBack(boundary: String) throws {
        let form = try MultipartForm(boundary: boundary)
        #expect(MIMEType(form.contentType)?.parameter("boundary") == boundary)
    }

    @Test func givenBoundaryInAPartIsATypedError() async throws {
        var form = try MultipartForm(boundary: "xyz")
        form.append(Data("xx xyy xyxyz".utf8), name: "p")
        let error = await #expect(throws: MultipartError.self) { try await collect(form) }
        #expect(error?.code == .boundaryInPart)
        #expect(error?.partName == "p")
    }

    @Test func randomBoundaryInAPartIsReplaced() async throws {
        var form = MultipartForm()
        let first = form.boundary
        form.append(Data("text --\(first) text".utf8), name: "p")
        #expect(form.boundary != first)
        let text = String(decoding: try await collect(form), as: UTF8.self)
        #expect(text.hasPrefix("--\(form.boundary)\r\n"))
        #expect(text.hasSuffix("\r\n--\(form.boundary)--\r\n"))
    }
}
