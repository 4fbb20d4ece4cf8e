// Testable: HAR
import FoundationEssentials

@testable import LinnetHAR

/// Reads the input as a HAR. Every input leads to a document or an error; a document that is written is read as itself,
/// and its bodies are decoded or refused. A cassette of it is accepted or refused.
///
/// If the input does not begin with a brace, it is the entries of a complete document instead, so that most inputs
/// reach the model.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHAR(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = Data(UnsafeBufferPointer(start: data, count: count))
    var text = bytes
    if bytes.first != UInt8(ascii: "{") {
        text = Data(#"{"log":{"version":"1.2","creator":{"name":"f","version":"1"},"entries":["#.utf8) + bytes
        text += Data("]}}".utf8)
    }
    let har: HAR
    do throws(HARError) {
        har = try HAR(parsing: text)
    } catch {
        let needsPlace = error.code == .missingField || error.code == .invalidValue
        // The place of the whole document is empty.
        guard !needsPlace || error.place != nil else { fatalError("The error has no place: \(error)") }
        return 0
    }
    let written = har.data()
    guard let again = try? HAR(parsing: written), again == har, again.data() == written else {
        fatalError("A written document is not read as itself.")
    }
    for entry in har.entries {
        if let body = try? entry.response.content.data() {
            let content = HAR.Content(body, mimeType: "")
            guard (try? content.data()) == body, content.size == body.count else { fatalError("A body is changed.") }
        }
        _ = try? entry.request.postData?.data()
    }
    if let tape = try? Tape(har, Cassette.Configuration(), file: URL(filePath: "/f.har")) {
        guard tape.unusedEntries.count <= har.entries.count else { fatalError("The cassette has more entries.") }
    }
    return 0
}
