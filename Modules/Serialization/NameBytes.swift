/// A name compared by its bytes, as the wire compares it; Swift's own comparison takes canonically equivalent texts for
/// the same.
struct NameBytes: Hashable {
    let name: String

    init(_ name: String) { self.name = name }

    static func == (left: NameBytes, right: NameBytes) -> Bool {
        left.name.utf8.count == right.name.utf8.count && left.name.utf8.elementsEqual(right.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        var name = name
        name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
