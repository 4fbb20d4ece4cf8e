// Sources: Modules/Session/Files/SuggestedFileName.swift
import FoundationEssentials
import HTTPTypes

/// Takes the first line of the input as the Content-Disposition of a response and the second one as the path of its
/// URL. The name that is suggested is one in its folder, shown as it is, and suggests itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFileName(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let lines = UnsafeBufferPointer(start: data, count: count).split(
        separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let path = lines.count > 1 ? "/" + escaped(lines[1]) : "/"
    guard let first = lines.first, let url = URL(string: "https://example.com" + path) else { return 0 }
    var head = HTTPResponse(status: .ok)
    head.headerFields.append(HTTPField(name: .contentDisposition, lenientValue: first))
    let name = SuggestedFileName(head, url: url).name
    check(name)
    for again in [
        "attachment; filename*=UTF-8''" + escaped(name.utf8), "attachment; filename=\"" + quoted(name) + "\"",
    ] {
        let fields = [HTTPField(name: .contentDisposition, lenientValue: again.utf8)]
        let head = HTTPResponse(status: .ok, headerFields: HTTPFields(fields))
        guard SuggestedFileName(head, url: url).name == name else { fatalError("\(name) suggests another name.") }
    }
    return 0
}

private func check(_ name: String) {
    guard 1...240 ~= name.utf8.count else { fatalError("The name has \(name.utf8.count) bytes.") }
    guard !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") })
    else { fatalError("\(name.debugDescription) has a separator or a control character.") }
    guard name.utf8.first != UInt8(ascii: "."), name.utf8.last != UInt8(ascii: ".") else {
        fatalError("\(name) begins or ends with a dot.")
    }
    guard name.first?.isWhitespace == false, name.last?.isWhitespace == false else {
        fatalError("\(name.debugDescription) begins or ends with a blank.")
    }
    let hidden = name.unicodeScalars.contains { scalar in
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
    guard !hidden else { fatalError("\(name.debugDescription) has a character that is not shown.") }
    let file = URL(filePath: "/folder").appending(path: name)
    guard file.lastPathComponent == name, file.deletingLastPathComponent().path == "/folder" else {
        fatalError("\(name.debugDescription) is not in its folder.")
    }
}

private func escaped(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { byte in
        let digits = String(byte, radix: 16)
        return "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }.joined()
}

private func quoted(_ text: String) -> String {
    String(text.unicodeScalars.flatMap { $0 == "\"" ? ["\\", $0] : [$0] }.map(Character.init))
}
