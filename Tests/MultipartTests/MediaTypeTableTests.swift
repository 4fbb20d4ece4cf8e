import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MediaTypeTableTests {
    @Test func usualTypesAreMediaTypes() {
        #expect(MediaTypeTable.usual.count >= 200)
        for ending in ["pdf", "PDF", "docx", "m3u8", "geojson", "swift", "sqlite", "usdz", "eml", "7z"] {
            let type = MediaTypeTable.usual.mediaType(forPathExtension: ending)
            #expect(MIMEType(type) != nil)
            #expect(type != "application/octet-stream")
        }
    }

    @Test func mimeTypesFileIsParsed() {
        let table = MediaTypeTable(
            mimeTypes: """
                # comment
                text/x-a\ta A2  # another
                text/x-b b a
                not-a-type c
                text/x-none
                #text/x-d d\r
                text/x-e e\r
                """)
        #expect(table.count == 4)
        #expect(table["a"] == "text/x-a")
        #expect(table["a2"] == "text/x-a")
        #expect(table["B"] == "text/x-b")
        #expect(table["e"] == "text/x-e")
        #expect(table["c"] == nil)
        #expect(table.mediaType(forPathExtension: "c") == "application/octet-stream")
    }

    @Test func typesOfTheSystemOverrideTheUsualOnes() {
        #expect(MediaTypeTable.system.count >= MediaTypeTable.usual.count)
        #expect(MediaTypeTable.system.mediaType(forPathExtension: "png") == "image/png")
    }

    @Test func formUsesItsTableOfMediaTypes() async throws {
        let file = try TemporaryFile(Data("x".utf8), name: "reads.FastQ")
        var form = try MultipartForm(boundary: "B")
        try form.append(fileAt: file.url, name: "a")
        form.mediaTypes["fastq"] = "text/x-fastq"
        try form.append(fileAt: file.url, name: "b")
        form.mediaTypes["fastq"] = nil
        try form.append(fileAt: file.url, name: "c")
        let parts = try MultipartPart.all(in: try await collect(form), contentType: form.contentType)
        #expect(
            parts.map { $0.contentType?.essence } == [
                "application/octet-stream", "text/x-fastq", "application/octet-stream",
            ])
    }
}
