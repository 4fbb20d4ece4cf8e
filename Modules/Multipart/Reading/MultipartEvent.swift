public import FoundationEssentials

/// What a multipart body is made of, in the order in which it comes.
///
/// A part is ``partBegan(_:)``, any number of ``data(_:)``, and ``partEnded``. Where nested bodies are read, a part that is
/// multipart has parts in the place of data.
public enum MultipartEvent: Sendable, Hashable {
    /// A part's header is read.
    case partBegan(MultipartPartHead)
    /// Bytes of the part's content, at least one. How they are cut depends on how they came.
    case data(Data)
    /// The part is whole.
    case partEnded
}
