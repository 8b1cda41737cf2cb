import React, { useState } from "react";
import { Button } from "./button";

export interface Props { title: string; onClose?: () => void }

export const Dialog: React.FC<Props> = ({ title, onClose }) => {
  const [open, setOpen] = useState(true);
  return <Button label={title} onClick={() => setOpen(!open)}>{onClose}</Button>;
};

export default function App(): JSX.Element {
  return <Dialog title="größe" />;
}
