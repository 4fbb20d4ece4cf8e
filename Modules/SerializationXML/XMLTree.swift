/// An XML document as a tree of values.
public struct XMLTree: Sendable, Hashable {
    /// The element that holds all others.
    public var root: Element

    /// Creates a document.
    public init(root: Element) { self.root = root }

    /// What an element holds, in order.
    public enum Node: Sendable, Hashable {
        /// An element.
        case element(Element)
        /// A text; adjacent texts and CDATA sections are one.
        case text(String)
    }

    /// A name, attributes, and what is between the tags. Comments and processing instructions are left out.
    public struct Element: Sendable, Hashable {
        /// The name without its prefix.
        public var name: String
        /// The namespace that the name is in; nil if it is in none.
        public var namespace: String?
        /// The attributes by their names as written.
        public var attributes: [String: String]
        /// The namespaces of those attributes that are in one, by their names as written.
        ///
        /// An attribute without a prefix is in none, whatever the element is in (Namespaces in XML 1.0, 6.2).
        public var attributeNamespaces: [String: String]
        /// The content in order.
        public var children: [Node]

        /// Creates an element.
        public init(
            _ name: String,
            namespace: String? = nil,
            attributes: [String: String] = [:],
            attributeNamespaces: [String: String] = [:],
            children: [Node] = []
        ) {
            self.name = name
            self.namespace = namespace
            self.attributes = attributes
            self.attributeNamespaces = attributeNamespaces
            self.children = children
        }

        /// The elements directly within this one.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The first element of a name directly within this one.
        public subscript(name: String) -> Element? { elements.first { $0.name == name } }

        /// The value of the attribute of a name and a namespace, whatever its prefix is.
        public func attribute(_ name: XMLName) -> String? {
            guard let namespace = name.namespace else {
                return attributeNamespaces[name.localName] == nil ? attributes[name.localName] : nil
            }
            let written = attributeNamespaces.first { entry in
                entry.value == namespace && entry.key.split(separator: ":").last.map(String.init) == name.localName
            }
            return written.flatMap { attributes[$0.key] }
        }

        /// All text within this element, at any depth, in order.
        public var text: String {
            var text = ""
            for child in children {
                switch child {
                case .element(let element): text += element.text
                case .text(let part): text += part
                }
            }
            return text
        }
    }
}
