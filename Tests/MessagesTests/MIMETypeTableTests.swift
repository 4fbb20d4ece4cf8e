import LinnetMessages
import Testing

@Suite(.timeLimit(.minutes(5))) struct MIMETypeTableTests {
    @Test func usualTypesAreMediaTypes() {
        #expect(MIMEType.Table.usual.count >= 200)
        for ending in ["pdf", "PDF", "docx", "m3u8", "geojson", "swift", "sqlite", "usdz", "eml", "7z"] {
            let type = MIMEType.Table.usual.type(forPathExtension: ending)
            #expect(MIMEType(type) != nil)
            #expect(type != "application/octet-stream")
        }
    }

    @Test func mimeTypesFileIsParsed() {
        let table = MIMEType.Table(
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
        #expect(table.type(forPathExtension: "c") == "application/octet-stream")
    }

    @Test func typesOfTheSystemOverrideTheUsualOnes() {
        #expect(MIMEType.Table.system.count >= MIMEType.Table.usual.count)
        #expect(MIMEType.Table.system.type(forPathExtension: "png") == "image/png")
    }
}
