//! What is read from small conversations.
