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
        /// The content in order.
        public var children: [Node]

        /// Creates an element.
        public init(
            _ name: String,
            namespace: String? = nil,
            attributes: [String: String] = [:],
            children: [Node] = []
        ) {
            self.name = name
            self.namespace = namespace
            self.attributes = attributes
            self.children = children
        }

        /// The elements directly within this one.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The first element of a name directly within this one.
        public subscript(name: String) -> Element? { elements.first { $0.name == name } }

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
