import CLibXML2

/// The names and namespaces of a document, each made into a string once.
///
/// libxml2 keeps one copy of each for as long as it reads the document, so that a pointer stands for it. Without the
/// table, one long namespace would be copied for each element that is in it.
struct XMLNameTable {
    private struct QualifiedName: Hashable {
        let prefix: UnsafePointer<xmlChar>
        let localName: UnsafePointer<xmlChar>
    }

    private var strings: [UnsafePointer<xmlChar>: String] = [:]
    private var qualified: [QualifiedName: String] = [:]

    /// The string at a pointer that libxml2's dictionary owns.
    mutating func string(_ pointer: UnsafePointer<xmlChar>) -> String {
        if let known = strings[pointer] { return known }
        let string = String(cString: pointer)
        strings[pointer] = string
        return string
    }

    /// A name as it is written.
    mutating func string(prefix: UnsafePointer<xmlChar>?, localName: UnsafePointer<xmlChar>) -> String {
        guard let prefix else { return string(localName) }
        let name = QualifiedName(prefix: prefix, localName: localName)
        if let known = qualified[name] { return known }
        let string = "\(string(prefix)):\(string(localName))"
        qualified[name] = string
        return string
    }
}
