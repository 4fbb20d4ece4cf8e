// Modules: Serialization SerializationXML
import FoundationEssentials
import LinnetSerialization
import LinnetSerializationXML

/// Parses the input as XML: as a tree and as events, which must agree, and with an external charset. The tree, written
/// by a simple writer, parses to itself.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzXML(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let document = Data(UnsafeBufferPointer(start: data, count: count))
    let tree = try? XMLTree(parsing: document)
    var events: [Step] = []
    let isRead =
        (try? XMLEventParser().parse(document) { event in
            switch event {
            case .startElement(let name, let attributes): events.append(.start(name, attributes))
            case .endElement(let name): events.append(.end(name))
            case .text(let text), .cdata(let text): Step.append(text, to: &events)
            case .comment, .processingInstruction: break
            }
        }) != nil
    guard isRead == (tree != nil) else { fatalError("The tree and the events have other verdicts.") }
    if let tree {
        var steps: [Step] = []
        Step.append(tree.root, to: &steps)
        guard steps == events else { fatalError("The tree is not that of the events.") }
        if let text = written(tree.root) { check(tree, text) }
    }
    let charsets = ["UTF-16", "Shift_JIS", "GB18030", "ISO-2022-JP", "UTF-7", "BIG5-HKSCS", "EUC-KR", "UTF-8"]
    _ = try? XMLTree(parsing: document, charset: charsets[count % charsets.count])
    return 0
}

private enum Step: Equatable {
    case start(XMLName, [String: String])
    case end(XMLName)
    case text(String)

    /// Adds a text, which is joined to one that ends the steps.
    static func append(_ text: String, to steps: inout [Step]) {
        if text.isEmpty { return }
        guard case .text(let before)? = steps.last else { return steps.append(.text(text)) }
        steps[steps.count - 1] = .text(before + text)
    }

    static func append(_ element: XMLTree.Element, to steps: inout [Step]) {
        let name = XMLName(element.name, namespace: element.namespace)
        steps.append(.start(name, element.attributes))
        for child in element.children {
            switch child {
            case .element(let element): append(element, to: &steps)
            case .text(let text): append(text, to: &steps)
            }
        }
        steps.append(.end(name))
    }
}

private func check(_ tree: XMLTree, _ text: String) {
    var options = XMLParsingOptions()
    options.maximumDepth += 1
    do {
        guard try XMLTree(parsing: Data(text.utf8), options: options) == tree else {
            fatalError("The written document is another: \(text)")
        }
    } catch {
        fatalError("The written document is not read: \(error): \(text)")
    }
}

/// The element in XML; nil if an attribute has a prefix, because the tree does not keep declarations.
private func written(_ element: XMLTree.Element) -> String? {
    guard !element.attributes.keys.contains(where: { $0.contains(":") }) else { return nil }
    var text = "<\(element.name) xmlns=\"\(escaped(element.namespace ?? ""))\""
    for (name, value) in element.attributes { text += " \(name)=\"\(escaped(value))\"" }
    text += ">"
    for child in element.children {
        switch child {
        case .element(let element):
            guard let inner = written(element) else { return nil }
            text += inner
        case .text(let part): text += escaped(part)
        }
    }
    return text + "</\(element.name)>"
}

/// A reference for each character that has a meaning, or that a reader would normalize.
private func escaped(_ text: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        if "<>&\"\t\n\r".unicodeScalars.contains(scalar) {
            escaped.append(contentsOf: "&#\(scalar.value);".unicodeScalars)
        } else {
            escaped.append(scalar)
        }
    }
    return String(escaped)
}
